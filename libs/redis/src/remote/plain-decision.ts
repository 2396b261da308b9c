import type { Abortable, AbortSubscription, Clock, RateLimitLease } from '@ratelease/limiters';
import { subscribeToAbort } from '@ratelease/limiters';
import type { HeldPermits } from '../leases/remote-lease.js';
import { RemoteLease } from '../leases/remote-lease.js';
import { RemoteRefusedLease, retryAfterMsOf } from '../leases/remote-refused-lease.js';
import type { Answer, Granted, Question, Refused } from '../store/decision-request.js';
import type { Standing } from '../store/standing.js';
import { DecisionRequest } from '../store/decision-request.js';
import type { Store } from '../store/store.js';
import type { AcquisitionContext } from './acquisition-context.js';
import type { Reserve } from '../reserve/reserve.js';
import type { Together } from './together.js';

/** How the outcome reaches who asked: the lease, which limiter refused (-1: none), and when all would grant. */
export type Settle = (
  lease: RateLimitLease,
  refusedBy: number,
  retryAfterOfAllMs: number | undefined,
) => void;

const NONE: readonly HeldPermits[] = [];
const NOBODY = (): void => undefined;
const ONE: Question = { permits: 1, ahead: 0, id: '', flag: 'n' };

/**
 * A request that asks rates once, and holds and waits for nothing: most are such, so it is one object from the question
 * to the lease. {@link Acquisition} is for all others.
 */
export class PlainDecision extends DecisionRequest implements Abortable {
  readonly #context: AcquisitionContext;
  readonly #together: Together;
  readonly #signal: AbortSignal | undefined;
  readonly #subscription: AbortSubscription | undefined;
  #settle: Settle;
  #reject: (reason: unknown) => void;
  readonly #generation: number;
  /** When it was asked, by the clock of the limiter; only where refusals are remembered. */
  readonly #askedMs: number;
  #reserve: Reserve | undefined;

  // oxlint-disable-next-line max-params -- made for each request: no object more than this one
  constructor(
    context: AcquisitionContext,
    together: Together,
    permits: number,
    signal: AbortSignal | undefined,
    settle: Settle,
    reject: (reason: unknown) => void,
    sinceMs?: number,
  ) {
    super(together.group, permits === 1 ? ONE : { permits, ahead: 0, id: '', flag: 'n' }, sinceMs);
    this.#context = context;
    this.#together = together;
    this.#signal = signal;
    this.#settle = settle;
    this.#reject = reject;
    this.#generation = context.states.store.generation;
    this.#askedMs = together.refusals === undefined ? 0 : this.#clock.now();
    this.#reserve = context.states.reserve(together.group);
    this.#subscription = signal === undefined ? undefined : subscribeToAbort(signal, this);
  }

  /** Asks the store, where the answer isn't known already. */
  ask(): void {
    const { refusals } = this.#together;
    const { permits } = this.question;
    const reserve = this.#reserve;
    const known = reserve?.take(permits) ?? refusals?.recall(permits, this.#askedMs, this.#generation);
    // Without a store the policy answers, not the memory; but what is reserved is paid for.
    if (known !== undefined && (known.kind === 'granted' || this.#store.health.isAvailable))
      return this.answer(known);
    this.#store.ask(this);
    reserve?.refill(permits);
  }

  /** The signal aborts: the caller learns it at once, and what is granted later is given back. */
  onAbort(reason: unknown): void {
    if (this.isSettled) return;
    this.#reject(reason);
    this.giveUp();
  }

  afterAbort(): void {
    // It stood in nobody's way.
  }

  protected override onAnswer(answer: Answer): void {
    const signal = this.#signal;
    this.#subscription?.delete(this);
    switch (answer.kind) {
      case 'granted':
        return this.#grant(this.isSent ? this.#heardWith(answer) : answer);
      case 'refused':
        if (this.#isHelpedOut(answer)) return;
        this.#remember(answer);
        this.#end(answer.member, answer.standing);
        return this.#refuse(answer);
      default:
        if (signal?.aborted === true) return this.#end(undefined);
        void this.#withoutStore();
    }
  }

  /** What was granted to nobody is given back. */
  protected override onLate(answer: Answer): void {
    const { permits } = this.question;
    if (answer.kind === 'granted' && permits > 0) void this.#store.giveBack(this.group, permits, answer);
  }

  protected override onExpired(): void {
    this.#store.timedOut(this);
  }

  get #clock(): Clock {
    return this.group.definitions[0]!.clock;
  }

  get #store(): Store {
    return this.#context.states.store;
  }

  #grant(granted: Granted): void {
    this.#end(-1, granted.standing);
    this.#tell(this.#leaseOf(granted), -1, undefined);
  }

  #leaseOf({ standing, nowUs }: Granted): RateLimitLease {
    const { group, question } = this;
    return new RemoteLease({
      group,
      standing,
      nowUs,
      permits: question.permits,
      store: this.#store,
      held: NONE,
    });
  }

  #heardWith(granted: Granted): Granted {
    const reserve = this.#reserve;
    if (reserve === undefined) return granted;
    reserve.heard(granted.standing);
    return reserve.withReserved(granted);
  }

  /**
   * The server counts what is reserved as granted: a request that is refused for that is granted what came meanwhile,
   * or asks again when the reserve has been given back.
   */
  #isHelpedOut(refused: Refused): boolean {
    const reserve = this.#reserve;
    const { permits } = this.question;
    if (reserve === undefined || !this.isSent) return false;
    reserve.heard(refused.standing);
    const reserved = reserve.take(permits);
    if (reserved !== undefined) {
      this.#grant(reserved);
      return true;
    }
    if (reserve.giveBack() === null && !reserve.isReturning) return false;
    const again = new PlainDecision(
      ...([this.#context, this.#together, permits, this.#signal, this.#settle, this.#reject] as const),
      this.sinceMs,
    );
    // This time the server's word is the last.
    again.#reserve = undefined;
    again.ask();
    return true;
  }

  /** Only what the server has said itself: an answer from the memory must not prolong it. */
  #remember(refused: Refused): void {
    const { refusals } = this.#together;
    if (refusals === undefined || !this.isSent) return;
    const hearing = {
      permits: this.question.permits,
      sinceMs: this.#askedMs,
      nowMs: this.#clock.now(),
      generation: this.#generation,
    };
    refusals.keep(refused, hearing);
  }

  #refuse({ member, waitUs, longestUs, standing }: Refused): void {
    const lease = new RemoteRefusedLease({
      retryAfterMs: retryAfterMsOf(waitUs),
      group: this.group,
      standing,
    });
    this.#tell(lease, member, retryAfterMsOf(longestUs));
  }

  async #withoutStore(): Promise<void> {
    const signal = this.#signal;
    try {
      const answer = await this.#context.withoutStore.answer(this.group, this.question.permits, { signal });
      const refusedBy = answer.lease.isAcquired ? -1 : answer.refusedBy;
      this.#end(refusedBy);
      this.#tell(answer.lease, refusedBy, undefined);
    } catch (error) {
      this.#end(undefined);
      this.#reject(error);
    }
  }

  /** What the asking one has is his from now on: whatever still leads to this request must not keep it. */
  #tell(lease: RateLimitLease, refusedBy: number, retryAfterOfAllMs: number | undefined): void {
    const settle = this.#settle;
    this.#settle = NOBODY;
    this.#reject = NOBODY;
    settle(lease, refusedBy, retryAfterOfAllMs);
  }

  #end(refusedBy: number | undefined, standing?: Standing): void {
    const { limiters } = this.#together;
    for (let index = 0; index < limiters.length; index++) {
      const limiter = limiters[index]!;
      limiter.ended(this.question.permits);
      if (refusedBy !== undefined) limiter.count(refusedBy, index, standing?.[index]?.remaining);
    }
  }
}
