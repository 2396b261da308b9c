import {
  createChainedPartitionedRateLimiter,
  createPartitionedRateLimiter,
  RateLimitPartition,
} from '../src/index.js';
import type { PartitionedRateLimiter } from '../src/index.js';
import type { Visit } from './stage.js';
import { Stage } from './stage.js';

const PATIENT_CLIENTS = 18;
const WORK_MS = 50;
/** Each asks eight times a second, for work that takes a twentieth: 7.2 of the 10 permits in all. */
const MEAN_PAUSE_MS = 125;
const GREEDY = -1;

/** Whether one client asks a thousand times a second, and what is limited: each key, or only all together. */
export interface GreedyKeySetup {
  readonly isSomebodyGreedy: boolean;
  readonly isLimitedPerKey: boolean;
}

/** What is asked, and the part of it that all share. */
interface Limits {
  readonly asked: PartitionedRateLimiter<number>;
  readonly total: PartitionedRateLimiter<number>;
}

function createLimits({ clock }: Stage, isLimitedPerKey: boolean): Limits {
  const total = createPartitionedRateLimiter(
    (_client: number) =>
      RateLimitPartition.getConcurrencyLimiter('all', () => ({ permitLimit: 10, queueLimit: 200 })),
    { clock },
  );
  if (!isLimitedPerKey) return { asked: total, total };
  const perKey = createPartitionedRateLimiter(
    (client: number) =>
      RateLimitPartition.getConcurrencyLimiter(client, () => ({ permitLimit: 2, queueLimit: 5 })),
    { clock },
  );
  return { asked: createChainedPartitionedRateLimiter(perKey, total), total };
}

/** Clients that ask now and then, and one that asks without end. */
export async function simulateGreedyKey(setup: GreedyKeySetup, ms: number): Promise<Visit[]> {
  const stage = new Stage();
  const { asked, total } = createLimits(stage, setup.isLimitedPerKey);
  const served = (): number => total.getStatistics(0)!.totalSuccessfulLeases;
  const visit = async (group: string, client: number): Promise<void> => {
    const lease = await stage.ask({ group, client, acquire: () => asked.acquire(client), served });
    if (!lease.isAcquired) return;
    await stage.pause(WORK_MS);
    lease.dispose();
  };
  const come = async (group: string, client: number, pauseMs: () => number): Promise<void> => {
    while (!stage.hasEnded) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await stage.pause(pauseMs());
      void visit(group, client);
    }
  };
  for (let client = 0; client < PATIENT_CLIENTS; client++) {
    void come('patient', client, () => stage.random.untilNext(MEAN_PAUSE_MS));
  }
  if (setup.isSomebodyGreedy) void come('greedy', GREEDY, () => 1);
  await stage.run(ms);
  return stage.visits;
}
