import {
  ConcurrencyLimiter,
  createPartitionedRateLimiter,
  foreseeableIdle,
  RateLimitPartition,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

/** How often limiters were asked since when they are idle. */
let looks = 0;

/** A limiter that says how long it has been idle, and counts the questions. */
class AskedLimiter extends ConcurrencyLimiter {
  /** Asked only when its time is over. */
  readonly [foreseeableIdle] = true;
  usedAtMs: number;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    super({ permitLimit: 1, clock });
    this.#clock = clock;
    this.usedAtMs = clock.now();
  }

  override get idleDurationMs(): number {
    looks++;
    return this.#clock.now() - this.usedAtMs;
  }
}

const CAP = 500;
const IDLE_TIMEOUT_MS = 1_000;
const DURATION_MS = 3_000;

describe('a flood of new keys at the cap', () => {
  it.each([
    ['while all keys are in use', 1, 0],
    ['while most keys are in use, and some fall idle', 1, 0.05],
    ['many at a time', 40, 0.05],
  ])('costs few looks at the old ones: %s', (_, perMs, share) => {
    const clock = new FakeClock();
    const limiters = new Map<string, AskedLimiter>();
    const partitions = createPartitionedRateLimiter(
      (key: string) =>
        RateLimitPartition.get(key, () => {
          const limiter = new AskedLimiter(clock);
          limiters.set(key, limiter);
          return limiter;
        }),
      { clock, idleTimeoutMs: IDLE_TIMEOUT_MS, maxPartitions: CAP },
    );
    for (let key = 0; key < CAP; key++) {
      partitions.attemptAcquire(`old ${key}`).dispose();
      if (key % 5 === 0) clock.advance(1);
    }
    looks = 0;
    let attempts = 0;
    let granted = 0;
    for (let ms = 0; ms < DURATION_MS; ms++) {
      clock.advance(1);
      let number = 0;
      // Those in use are asked all the time, the others never again.
      for (const limiter of limiters.values())
        if (++number > limiters.size * share) limiter.usedAtMs = clock.now();
      for (let each = 0; each < perMs; each++) {
        if (partitions.attemptAcquire(`new ${attempts++}`).isAcquired) granted++;
      }
    }
    // Two for each key and idle timeout, whatever is attempted meanwhile.
    const rounds = DURATION_MS / IDLE_TIMEOUT_MS + 2;
    expect(looks).toBeLessThan(2 * CAP * rounds);
    expect(partitions.partitionCount).toBe(CAP);
    expect(granted > 0).toBe(share > 0);
  });
});
