import type { ChainParticipant, RateLimiter, RateLimitLease } from '../index.js';
import {
  chainParticipants,
  ConcurrencyLimiter,
  createChainedRateLimiter,
  FixedWindowRateLimiter,
} from '../index.js';
import { FakeClock } from '../testing/index.js';

const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** What a chain asks of a member of which a request has to wait, or does with it. */
const QUESTIONS = [
  'bringUpToDate',
  'canGrant',
  'hasEnough',
  'refusalToWait',
  'enter',
  'reserve',
  'reserveInTurn',
  'take',
] as const satisfies readonly (keyof ChainParticipant)[];
type Question = (typeof QUESTIONS)[number];
/** Those that are asked, too, as what is reserved is taken. */
const TAKING: readonly Question[] = ['take', 'bringUpToDate'];

const WINDOW_MS = 10;

/** A chain whose request is passed over until it reserves, and something that happens in the midst of that. */
class Trial {
  readonly clock = new FakeClock();
  readonly #common = { permitLimit: 1, queueLimit: 9, clock: this.clock };
  readonly rate = new FixedWindowRateLimiter({ ...this.#common, windowMs: WINDOW_MS });
  readonly running = new ConcurrencyLimiter(this.#common);
  readonly chain = createChainedRateLimiter(this.rate, this.running);
  readonly controller = new AbortController();
  /** How often the question was asked. */
  asked = 0;
  #leases: RateLimitLease[] = [];
  #waiting = 0;
  #grantsOfRate = 0;
  readonly #unexpected: unknown[] = [];

  /** Lets something happen just before a member answers a question for the nth time. */
  meddle(member: 'rate' | 'running', question: Question, nth: number, happen: (trial: Trial) => void): void {
    const participant = this[member][chainParticipants]()![0] as unknown as Record<
      Question,
      (...args: unknown[]) => unknown
    >;
    const answer = participant[question];
    participant[question] = (...args: unknown[]): unknown => {
      if (this.asked++ === nth) happen(this);
      return answer.apply(participant, args);
    };
  }

  acquire(limiter: RateLimiter, signal?: AbortSignal): void {
    this.#waiting++;
    limiter.acquire(1, { signal }).then(
      (lease) => {
        this.#waiting--;
        if (!lease.isAcquired) return;
        this.#leases.push(lease);
        if (limiter !== this.running) this.#grantsOfRate++;
      },
      (error: unknown) => {
        this.#waiting--;
        if (error !== signal?.reason) this.#unexpected.push(error);
      },
    );
  }

  /** So many times the one member is free when the other isn't, then both are. */
  async run(turns: number): Promise<void> {
    this.#takeOfRate();
    let held = this.running.attemptAcquire();
    this.acquire(this.chain, this.controller.signal);
    for (let turn = 0; turn < turns; turn++) {
      this.clock.advance(WINDOW_MS);
      this.#takeOfRate();
      held.dispose();
      held = this.running.attemptAcquire();
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await settled();
    }
    held.dispose();
    for (let round = 0; round < 10; round++) {
      this.clock.advance(WINDOW_MS);
      // oxlint-disable-next-line no-await-in-loop
      await settled();
      for (const lease of this.#leases.splice(0)) lease.dispose();
    }
    this.asked = NaN;
  }

  /** How it stands at the end. */
  standing(): object {
    const rate = this.rate.getStatistics();
    const running = this.running.getStatistics();
    return {
      free: [rate.currentAvailablePermits, running.currentAvailablePermits],
      queued: [rate.currentQueuedCount, running.currentQueuedCount],
      isIdle: [this.rate.idleDurationMs !== null, this.running.idleDurationMs !== null],
      burnt: rate.totalSuccessfulLeases - this.#grantsOfRate,
      waiting: this.#waiting,
      timers: this.clock.pendingTimers,
      unexpected: this.#unexpected,
    };
  }

  #takeOfRate(): void {
    if (this.rate.attemptAcquire().isAcquired) this.#grantsOfRate++;
  }
}

const PEACE = {
  free: [1, 1],
  queued: [0, 0],
  isIdle: [true, true],
  burnt: 0,
  waiting: 0,
  timers: 0,
  unexpected: [],
};

const happenings: Record<string, (trial: Trial) => void> = {
  'the request is aborted': ({ controller }) => controller.abort(),
  'the chain ends': ({ chain }) => chain.dispose(),
  'another request comes': (trial) => trial.acquire(trial.chain),
  'others come to each member': (trial) => {
    trial.acquire(trial.running);
    trial.acquire(trial.rate);
  },
  'the limit is raised and lowered': ({ running }) => {
    running.updateOptions({ permitLimit: 2 });
    running.updateOptions({ permitLimit: 1 });
  },
  'the member is reset': ({ running }) => running.reset(),
};

/** How a trial stands at the end for each time that the question is asked and that happens. */
async function outcomesOf(
  member: 'rate' | 'running',
  question: Question,
  happen: (trial: Trial) => void,
  turns: number,
): Promise<object[]> {
  const outcomes: object[] = [];
  for (let nth = 0, asked = 1; nth < asked && nth < 60; nth++) {
    const trial = new Trial();
    trial.meddle(member, question, nth, (own) => {
      asked = nth + 2;
      happen(own);
    });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await trial.run(turns);
    outcomes.push(trial.standing());
  }
  return outcomes;
}

describe.each(Object.entries(happenings))('a chain with a member in whose midst %s', (_, happen) => {
  const questions = (['rate', 'running'] as const).flatMap((member) =>
    QUESTIONS.map((question) => [member, question] as const),
  );

  // The one whose turn it is for the first time can have all, unless something happens; the other reserves.
  const turns = [0, 4];

  it.each(questions)('loses and burns nothing: %s, %s', async (member, question) => {
    const outcomes: object[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    for (const before of turns) outcomes.push(...(await outcomesOf(member, question, happen, before)));
    // What was taken of a rate when the request ended in the midst of the taking can't be given back.
    const burnt: unknown = TAKING.includes(question) ? expect.any(Number) : 0;
    expect(outcomes).toEqual(outcomes.map(() => ({ ...PEACE, burnt })));
  });
});
