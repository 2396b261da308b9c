import { ConcurrencyLimiter, TokenBucketRateLimiter } from '../src/index.js';
import type { QueueProcessingOrder, RateLimiter } from '../src/index.js';
import type { Visit } from './stage.js';
import { Stage } from './stage.js';

const SMALL_CLIENTS = 30;
const BIG_CLIENTS = 2;
/** All permits that there are. */
const BIG = 10;

/** All that may stand in the queue before a request. */
export const BIG_AND_SMALL_CLIENTS = SMALL_CLIENTS + BIG_CLIENTS;

export interface BigAmongSmallSetup {
  readonly kind: 'concurrency' | 'tokenBucket';
  readonly queueProcessingOrder: QueueProcessingOrder;
}

function createLimiter({ clock }: Stage, { kind, queueProcessingOrder }: BigAmongSmallSetup): RateLimiter {
  const queue = { queueLimit: 1_000, queueProcessingOrder };
  return kind === 'concurrency'
    ? new ConcurrencyLimiter({ ...queue, permitLimit: BIG })
    : new TokenBucketRateLimiter({
        ...queue,
        tokenLimit: BIG,
        tokensPerPeriod: 1,
        replenishmentPeriodMs: 1,
        clock,
      });
}

/** Thirty clients that want one permit, and two that want all ten. All work for 5 to 15 ms and ask again at once. */
export async function simulateBigAmongSmall(setup: BigAmongSmallSetup, ms: number): Promise<Visit[]> {
  const stage = new Stage();
  const limiter = createLimiter(stage, setup);
  const served = (): number => limiter.getStatistics()!.totalSuccessfulLeases;
  const come = async (group: string, client: number, permits: number): Promise<void> => {
    while (!stage.hasEnded) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const lease = await stage.ask({ group, client, acquire: () => limiter.acquire(permits), served });
      // oxlint-disable-next-line no-await-in-loop
      await stage.pause(stage.random.between(5, 15));
      lease.dispose();
    }
  };
  for (let client = 0; client < SMALL_CLIENTS; client++) void come('small', client, 1);
  for (let client = 0; client < BIG_CLIENTS; client++) void come('big', client, BIG);
  await stage.run(ms);
  return stage.visits;
}
