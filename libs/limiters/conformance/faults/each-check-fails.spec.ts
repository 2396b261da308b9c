import { ConformanceError, rateLimiterConformance } from '../../src/testing/index.js';
import { ARGUMENT_FAULTS } from './argument-faults.js';
import { faulty, LIMIT, QUEUE_LIMIT } from './faulty.js';
import { GRANTING_FAULTS } from './granting-faults.js';
import { LIFETIME_FAULTS } from './lifetime-faults.js';
import { WAITING_FAULTS } from './waiting-faults.js';

const traits = { permitLimit: LIMIT, queueLimit: QUEUE_LIMIT };
const FAULTS = [...ARGUMENT_FAULTS, ...GRANTING_FAULTS, ...LIFETIME_FAULTS, ...WAITING_FAULTS];
const CHECKS = rateLimiterConformance(
  faulty(() => ({})),
  traits,
);

describe('the conformance suite', () => {
  it.each(CHECKS)('passes a limiter of another maker without faults: it $name', ({ run }) => run());

  it('has a fault for each check, which it finds', () => {
    const found = new Set(FAULTS.map(([check]) => check));
    expect(CHECKS.map(({ name }) => name).filter((name) => !found.has(name))).toEqual([]);
  });
});

describe('the check that a limiter', () => {
  it.each(FAULTS)('%s finds: %s', async (check, message, create) => {
    const { run } = rateLimiterConformance(create, traits).find(({ name }) => name === check)!;
    const error = (await run().catch((caught: unknown) => caught)) as Error;
    expect(error).toBeInstanceOf(ConformanceError);
    expect(error.name).toBe('ConformanceError');
    expect(error.message).toContain(message);
  });
});
