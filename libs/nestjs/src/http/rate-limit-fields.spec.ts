import type { RateLimitLease, RateLimitQuota } from '@ratelease/limiters';
import type { PolicySet } from '../policies/policy-set.js';
import { JoinedItems } from './joined-items.js';
import { PolicyItem, seconds } from './policy-item.js';
import { rateLimitFields } from './rate-limit-fields.js';
import { structuredString } from './structured-string.js';

const set = {
  policies: ['a', 'b'].map((name) => {
    const fieldName = structuredString(name);
    return { name, fieldName, item: new PolicyItem(fieldName), showsQuota: true };
  }),
  fieldItems: new JoinedItems(),
} as unknown as PolicySet;
const entry = (changes: Partial<RateLimitQuota>): RateLimitQuota => ({
  limit: 10,
  remaining: 4,
  resetAfterMs: 1_500,
  windowMs: 60_000,
  member: 0,
  ...changes,
});
const fields = (...quota: RateLimitQuota[]): ReturnType<typeof rateLimitFields> =>
  rateLimitFields(set, { quota: () => quota } as unknown as RateLimitLease);

describe('the RateLimit fields', () => {
  it('list an item for each limiter, named after its policy', () => {
    expect(fields(entry({}), entry({ member: 1, remaining: 0, resetAfterMs: 0, windowMs: 400 }))).toEqual({
      rateLimit: '"a";r=4;t=2, "b";r=0;t=0',
      rateLimitPolicy: '"a";q=10;w=60, "b";q=10;w=1',
    });
  });

  it('have no time for concurrency', () => {
    expect(fields(entry({ resetAfterMs: undefined, windowMs: undefined }))).toEqual({
      rateLimit: '"a";r=4',
      rateLimitPolicy: '"a";q=10;qu="concurrent-requests"',
    });
  });

  it('number the limiters of one policy', () => {
    expect(fields(entry({}), entry({}), entry({ member: 1 }))?.rateLimit).toBe(
      '"a";r=4;t=2, "a-2";r=4;t=2, "b";r=4;t=2',
    );
  });

  it('leave out what has no limit, and are absent where nothing remains', () => {
    expect(fields(entry({ limit: Infinity }), entry({ member: 1 }))?.rateLimit).toBe('"b";r=4;t=2');
    expect(fields(entry({ limit: Infinity }))).toBeUndefined();
    expect(fields()).toBeUndefined();
  });

  it('stay within the integers of structured fields', () => {
    expect(fields(entry({ limit: 2 ** 53 - 1, remaining: 2 ** 53 - 1 }))?.rateLimitPolicy).toBe(
      '"a";q=999999999999999;w=60',
    );
    expect(seconds(31_536_000_000)).toBe(31_536_000);
    expect(seconds(-5)).toBe(0);
  });
});

describe('a structured string', () => {
  it.each([
    ['burst', '"burst"'],
    ['a "b"\\', '"a \\"b\\"\\\\"'],
    ['é\n', '"%C3%A9%0A"'],
    ['\ud800', '"%EF%BF%BD"'],
    ['', '""'],
  ])('of %j is %s', (text, expected) => {
    expect(structuredString(text)).toBe(expected);
  });
});
