import { RateLimitPartition } from '@ratelease/limiters';
import { AdditionalLimits } from './additional-limits.js';

const limit = () => RateLimitPartition.getNoLimiter('everybody');

describe('limits that modules add', () => {
  it('are taken by their names, in the order in which they came', () => {
    const limits = new AdditionalLimits();
    limits.add('sessions', limit);
    limits.add('tenants', limit);
    expect([...limits.take().keys()]).toEqual(['sessions', 'tenants']);
  });

  it('need names of their own, and have to come in time', () => {
    const limits = new AdditionalLimits();
    limits.add('sessions', limit);
    expect(() => limits.add('sessions', limit)).toThrow(/^There is already an additional limit "sessions"/);
    limits.take();
    expect(() => limits.add('tenants', limit)).toThrow(/^The additional limit "tenants" comes too late/);
  });
});
