import type { RateLimitLease } from '../src/index.js';
import { FakeClock } from '../src/testing/index.js';
import { Random } from './random.js';

/** What became of a request. */
export interface Visit {
  /** Whose request it was, as a row of a table. */
  readonly group: string;
  readonly client: number;
  readonly askedAtMs: number;
  outcome: 'waiting' | 'served' | 'refused';
  /** Until it was answered, or until the end. */
  waitedMs: number;
  /** How often others were served while it waited. */
  turns: number;
}

/** Who asks, for what, and where turns are counted. */
export interface Asking {
  readonly group: string;
  readonly client: number;
  readonly acquire: () => Promise<RateLimitLease>;
  /** How many have been served so far where the request waits. */
  readonly served: () => number;
}

/** A simulated time in which clients ask for permits, work, and give them back. */
export class Stage {
  readonly clock = new FakeClock();
  readonly random: Random;
  readonly visits: Visit[] = [];
  #hasEnded = false;

  constructor(seed = 1) {
    this.random = new Random(seed);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Lets the time pass, a millisecond at a time, and ends. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed++) {
      this.clock.advance(1);
      // oxlint-disable-next-line no-await-in-loop -- who was served goes on in between
      await settle();
    }
    this.#hasEnded = true;
    for (const visit of this.visits) {
      if (visit.outcome === 'waiting') visit.waitedMs = this.clock.now() - visit.askedAtMs;
    }
  }

  /** Waits in the simulated time. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimer(resolve, ms));
  }

  /** Asks once and notes what comes of it. */
  async ask({ group, client, acquire, served }: Asking): Promise<RateLimitLease> {
    const visit: Visit = {
      group,
      client,
      askedAtMs: this.clock.now(),
      outcome: 'waiting',
      waitedMs: 0,
      turns: 0,
    };
    this.visits.push(visit);
    const before = served();
    const lease = await acquire();
    if (this.#hasEnded) return lease;
    visit.outcome = lease.isAcquired ? 'served' : 'refused';
    visit.waitedMs = this.clock.now() - visit.askedAtMs;
    visit.turns = lease.isAcquired ? Math.max(0, served() - before - 1) : 0;
    return lease;
  }
}

/** Lets promises go on; whatever a served request does next takes a few turns only. */
export async function settle(): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one turn after the other
  for (let turn = 0; turn < 12; turn++) await Promise.resolve();
}
