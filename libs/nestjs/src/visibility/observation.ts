import type { Clock } from '@ratelease/limiters';
import type { RateLimitRejectedException } from '../rejection/rate-limit-rejected.exception.js';
import type { RateLimitingEvent } from './events.js';
import { CHANNELS } from './events.js';
import type { Instruments, MetricResult } from './instruments.js';
import { labelsOf } from './instruments.js';

let acquisitions = 0;

/** What an observed acquisition is about. */
export interface Observed extends Omit<RateLimitingEvent, 'acquisition'> {
  /** The policies of the endpoint, for the labels; `undefined` for the global limiter alone. */
  readonly label: string | undefined;
}

/**
 * Tells of one acquisition from its beginning to the release. The instruments are those of the beginning: who
 * comes later doesn't see something end that never began for him.
 */
export class Observation {
  readonly #event: Observed;
  readonly #acquisition = ++acquisitions;
  readonly #instruments: Instruments | undefined;
  readonly #clock: Clock;
  #queuedAt: number | undefined = undefined;
  #grantedAt = 0;
  #waitedMs = 0;
  #isCounted = false;

  constructor(event: Observed, instruments: Instruments | undefined, clock: Clock) {
    this.#event = event;
    this.#instruments = instruments;
    this.#clock = clock;
  }

  /** The request may wait. A full queue answers at once, and then nobody was queued. */
  waiting(answer: Promise<unknown>): void {
    const since = this.#clock.now();
    let isPending = true;
    const settle = (): void => {
      isPending = false;
    };
    answer.then(settle, settle);
    setImmediate(() => {
      if (isPending) this.#queued(since);
    });
  }

  #queued(since: number): void {
    this.#queuedAt = since;
    this.#instruments?.queuedRequests.add(1, labelsOf(this.#event.label));
    CHANNELS.queued.publish(this.#facts);
  }

  /**
   * Permits were granted to a request: it is counted when it has ended, as each request is counted once, with its
   * outcome, when that is over.
   */
  acquired(): void {
    this.#endWait('acquired');
    this.#grantedAt = this.#clock.now();
    this.#instruments?.activeLeases.add(1, labelsOf(this.#event.label));
    CHANNELS.acquired.publish({ ...this.#facts, waitedMs: this.#waitedMs });
  }

  /** Permits were granted to code outside handlers, which need not give back those of a rate: that counts now. */
  acquiredOutside(): void {
    this.acquired();
    this.#count('acquired');
  }

  /** The request was refused. */
  refused({ policyName, reason, retryAfterMs }: RefusalFacts, isShadow: boolean): void {
    this.#count(reason === 'global' ? 'global_limiter' : 'endpoint_limiter');
    const facts = { policyName, reason, retryAfterMs, waitedMs: this.#waitedMs, isShadow };
    CHANNELS.refused.publish({ ...this.#facts, ...facts });
  }

  /** Nobody waits for the answer any more. */
  canceled(): void {
    this.#count('request_canceled');
    CHANNELS.canceled.publish({ ...this.#facts, waitedMs: this.#waitedMs });
  }

  /** Asking has failed: that is no outcome, but the wait is over. */
  failed(): void {
    if (this.#queuedAt === undefined) return;
    this.#queuedAt = undefined;
    this.#instruments?.queuedRequests.add(-1, labelsOf(this.#event.label));
  }

  /** What was granted goes back. */
  released(): void {
    const heldMs = this.#clock.now() - this.#grantedAt;
    const labels = labelsOf(this.#event.label);
    this.#instruments?.activeLeases.add(-1, labels);
    this.#instruments?.leaseDuration.record(heldMs / 1_000, labels);
    if (!this.#isCounted) this.#count('acquired');
    CHANNELS.released.publish({ ...this.#facts, heldMs });
  }

  get #facts(): RateLimitingEvent {
    const { policies, endpoint, permits, context } = this.#event;
    return { policies, endpoint, permits, acquisition: this.#acquisition, context };
  }

  #count(result: MetricResult): void {
    this.#isCounted = true;
    this.#endWait(result);
    this.#instruments?.requests.add(1, labelsOf(this.#event.label, result));
  }

  #endWait(result: MetricResult): void {
    if (this.#queuedAt === undefined) return;
    const { label } = this.#event;
    this.#waitedMs = this.#clock.now() - this.#queuedAt;
    this.#queuedAt = undefined;
    this.#instruments?.queuedRequests.add(-1, labelsOf(label));
    this.#instruments?.timeInQueue.record(this.#waitedMs / 1_000, labelsOf(label, result));
  }
}

type RefusalFacts = Pick<RateLimitRejectedException, 'policyName' | 'reason' | 'retryAfterMs'>;
