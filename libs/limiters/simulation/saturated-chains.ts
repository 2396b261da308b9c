import { ConcurrencyLimiter, createChainedRateLimiter, FixedWindowRateLimiter } from '../src/index.js';
import type { RateLimiter } from '../src/index.js';
import type { Visit } from './stage.js';
import { Stage } from './stage.js';

const CLIENTS_PER_ROUTE = 8;

/** A way through the members, and the one of them that serves least. */
interface Route {
  readonly name: string;
  readonly limiter: RateLimiter;
  readonly slowest: RateLimiter;
}

function routes({ clock }: Stage): Route[] {
  const queueLimit = 1_000;
  const four = new ConcurrencyLimiter({ permitLimit: 4, queueLimit });
  const three = new ConcurrencyLimiter({ permitLimit: 3, queueLimit });
  const window = new FixedWindowRateLimiter({ permitLimit: 10, windowMs: 100, queueLimit, clock });
  const chain = (...members: RateLimiter[]): RateLimiter => createChainedRateLimiter(...members);
  return [
    { name: 'chain four, three, window', limiter: chain(four, three, window), slowest: window },
    { name: 'chain window, three, four', limiter: chain(window, three, four), slowest: window },
    { name: 'chain three, four', limiter: chain(three, four), slowest: three },
    { name: 'only four', limiter: four, slowest: four },
    { name: 'only three', limiter: three, slowest: three },
    { name: 'only window', limiter: window, slowest: window },
  ];
}

/** The groups of {@link simulateSaturatedChains}, and how many clients there are in all. */
export const CHAIN_ROUTES = routes(new Stage()).map(({ name }) => name);
export const CHAIN_CLIENTS = CLIENTS_PER_ROUTE * CHAIN_ROUTES.length;

/**
 * Three limiters, each asked for more than it has, through chains in both orders and directly. Every client works for 5
 * to 15 ms and asks again at once.
 */
export async function simulateSaturatedChains(ms: number): Promise<Visit[]> {
  const stage = new Stage();
  for (const { name: group, limiter, slowest } of routes(stage)) {
    const served = (): number => slowest.getStatistics()!.totalSuccessfulLeases;
    for (let client = 0; client < CLIENTS_PER_ROUTE; client++) {
      void (async () => {
        while (!stage.hasEnded) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          const lease = await stage.ask({ group, client, acquire: () => limiter.acquire(), served });
          // oxlint-disable-next-line no-await-in-loop
          await stage.pause(stage.random.between(5, 15));
          lease.dispose();
        }
      })();
    }
  }
  await stage.run(ms);
  return stage.visits;
}
