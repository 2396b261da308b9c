import { REASON, RefusedLease } from '../engine/refused-lease.js';
import { errorsOfEach, throwCollected } from '../errors.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { ChainRefusedLease, noteAboveLimit, refusedMember } from './chain-refusal.js';
import type { ChainOwner } from './chain-request.js';
import { TURNS_BEFORE_RESERVING } from './chain-request.js';
import type { JointAsk, JointAsks } from './joint-ask.js';
import { inKeepingOrder, outcomeOf } from './joint-ask.js';
import type { JointOutcome } from './joint-decision.js';
import { isLost } from './joint-decision.js';
import { JointLease } from './joint-lease.js';
import { WaitBudget } from './wait-budget.js';

/**
 * A request of a chain whose members can't all be asked at once. It asks one place after the other, and holds what they
 * have granted only until it has to wait for the next: then it gives that back, and asks for it again once it has what
 * it waited for.
 *
 * A request that has given back {@link TURNS_BEFORE_RESERVING} times keeps what it gets: it takes it in an order that is
 * the same for all, and gives back only what comes later than what it waits for. So no two of them wait for each other.
 * Members whose grants can't be taken back are last in any order, and find all others granted. Those in this process only set
 * aside what is asked for, until the others have granted.
 */
export class JointRequest {
  readonly #asks: readonly JointAsk[];
  readonly #owner: ChainOwner;
  readonly #budget: WaitBudget;
  /** What it holds, by the place in {@link JointRequest.#asks}. */
  readonly #held: (RateLimitLease | undefined)[];
  /** The places in the order in which it asks. */
  #order: readonly number[];
  #gaveBack = 0;
  /** What went wrong with giving back at a moment when nobody could be told. */
  readonly #errors: unknown[] = [];

  constructor(asks: JointAsks, owner: ChainOwner, wait: WaitLimits) {
    this.#asks = asks;
    this.#owner = owner;
    this.#budget = new WaitBudget(wait);
    this.#held = asks.map(() => undefined);
    this.#order = [...asks.keys()];
  }

  /** The lease of all, or the refusal by one. */
  async run(): Promise<RateLimitLease> {
    for (;;) {
      const next = this.#order.find((index) => this.#held[index] === undefined);
      if (next === undefined) return this.#confirm();
      // oxlint-disable-next-line no-await-in-loop -- each has to know what those before it granted
      const refusal = await this.#ask(next);
      if (refusal !== null) return refusal;
    }
  }

  async #ask(index: number): Promise<RateLimitLease | null> {
    const ask = this.#asks[index]!;
    const onWait = (): void => this.#beginToWait(index);
    let outcome: JointOutcome;
    try {
      outcome = await this.#budget.spend(
        ({ signal, maxWaitMs }) => ask.ask({ signal, maxWaitMs, onWait }),
        ask.clock,
      );
    } catch (error) {
      if (error instanceof Error) noteAboveLimit(error, ask.memberOf(refusedMember(error)));
      this.#giveAllBack([error]);
      throw error;
    }
    const { lease } = outcome;
    if (lease.isAcquired) this.#held[index] = lease;
    if (!lease.isAcquired || this.#owner.hasEnded || this.#errors.length > 0) {
      this.#giveAllBack();
      // Nobody would have ended its wait in those that are asked next.
      return lease.isAcquired
        ? new RefusedLease(REASON.limiterDisposed)
        : refusalBy(outcome, (own) => ask.memberOf(own));
    }
    this.#giveBack((one, place) => place !== index && isLost(one));
    return null;
  }

  /** Everything is there: takes what was only set aside until now. */
  #confirm(): RateLimitLease {
    for (const [place, ask] of this.#asks.entries()) {
      let lease = this.#held[place]!;
      this.#held[place] = undefined;
      try {
        lease = ask.confirm(lease);
      } catch (error) {
        this.#giveAllBack([error]);
        throw error;
      }
      if (!lease.isAcquired) {
        this.#giveAllBack();
        return refusalBy(outcomeOf(lease, refusedMember(lease)), (own) => ask.memberOf(own));
      }
      this.#held[place] = lease;
    }
    return new JointLease(this.#asks, this.#held as RateLimitLease[]);
  }

  /** It has begun to wait for what is asked at a place. */
  #beginToWait(at: number): void {
    const isKeeping = this.#gaveBack >= TURNS_BEFORE_RESERVING;
    const position = this.#order.indexOf(at);
    const gaveBack = this.#giveBack((_lease, place) => !isKeeping || this.#order.indexOf(place) > position);
    if (gaveBack && ++this.#gaveBack === TURNS_BEFORE_RESERVING) this.#order = inKeepingOrder(this.#asks);
  }

  /** Gives back what it holds at some places, the last first. Returns whether it held any. */
  #giveBack(isGivenBack: (lease: RateLimitLease, place: number) => boolean): boolean {
    const places = this.#order.filter((place) => {
      const lease = this.#held[place];
      return lease !== undefined && isGivenBack(lease, place);
    });
    const errors = errorsOfEach([...places].reverse(), (place) => {
      const lease = this.#held[place]!;
      this.#held[place] = undefined;
      this.#asks[place]!.takeBack(lease);
    });
    this.#errors.push(...errors);
    return places.length > 0;
  }

  /** Gives back all that it holds. Throws what has gone wrong with that, now or earlier, and then what went wrong else. */
  #giveAllBack(others: readonly unknown[] = []): void {
    this.#giveBack(() => true);
    throwCollected([...this.#errors, ...others], 'Several members of a chain failed.');
  }
}

/** The refusal by some members, as that of the chain. */
export function refusalBy(
  { lease, refusedBy, retryAfterOfAllMs }: JointOutcome,
  memberOf: (own: number) => number,
): RateLimitLease {
  const quota = lease.quota().map((entry) => ({ ...entry, member: memberOf(entry.member) }));
  return new ChainRefusedLease(lease, quota, { member: memberOf(refusedBy), retryAfterOfAllMs });
}
