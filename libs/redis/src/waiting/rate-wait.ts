import { REASON, reasonOfRefusal } from '../leases/reasons.js';
import type { HeardRefusal } from '../remote/heard.js';
import { refusedUnasked } from '../remote/heard.js';
import { AskedQuestion } from '../remote/asked-question.js';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import type { Outcome } from '../remote/outcome.js';
import type { ProcessStates } from '../remote/process-states.js';
import { clockOf, flushed, quotaKnown, refusal, refusalBy } from '../remote/refusals.js';
import type { Wait } from '../remote/wait.js';
import type { Question } from '../store/decision-request.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { QueuePlace } from './queue-place.js';
import type { RateQueue } from './rate-queue.js';

/** How a wait for a rate ends: it is the request's turn, it is refused, or there is no store to ask. */
export type RateWaitEnd = 'turn' | Outcome | 'unavailable';

/** What a request does where a rate has no permits for it: it waits in this process, or learns how long that would take. */
export class RateWait {
  readonly #states: ProcessStates;
  readonly #permits: number;
  readonly #wait: Wait;
  readonly #place = new QueuePlace();

  constructor(states: ProcessStates, permits: number, wait: Wait) {
    this.#states = states;
    this.#permits = permits;
    this.#wait = wait;
  }

  /** The first limiter of the group for which others wait who come before the request; -1 where there is none. */
  blockedBy(group: LimiterGroup): number {
    return group.definitions.findIndex((definition) =>
      this.#queueInUse(group, definition)?.blocks(this.#permits),
    );
  }

  /** Stands behind those. */
  async behind(group: LimiterGroup, member: number): Promise<RateWaitEnd> {
    const refused = refusedUnasked(member, clockOf(group));
    const hasPlace = this.#wait.mayWait && this.#take(group, group.definitions[member]!, 0);
    return hasPlace ? this.#untilTurn(group, refused) : this.#look(group, refused);
  }

  /** A rate that has a queue has refused. */
  async refused(group: LimiterGroup, answer: HeardRefusal): Promise<RateWaitEnd> {
    const definition = group.definitions[answer.member]!;
    if (this.#wait.mayWait) return this.#enterQueue(group, answer);
    const isBehind = this.#queueInUse(group, definition)?.isAhead === true;
    return isBehind ? this.#look(group, answer) : this.#refuseBy(group, answer);
  }

  /** Gives the place up, if there is one. */
  leave(): void {
    this.#place.leave();
  }

  async #enterQueue(group: LimiterGroup, answer: HeardRefusal): Promise<RateWaitEnd> {
    const definition = group.definitions[answer.member]!;
    const waitMs = Math.max(0, answer.waitUs) / 1_000;
    const isIn = this.#place.isTaken || this.#hasRoom(group, definition);
    if (isIn && waitMs > this.#wait.leftMs) return refusalBy(group, answer, REASON.waitLimitReached);
    const hasPlace = isIn && this.#take(group, definition, definition.clock.now() + waitMs);
    return hasPlace ? this.#untilTurn(group, answer) : this.#look(group, answer);
  }

  /** There is no room in the queue: asks only how long it would have been. Behind nobody that is known, and would ask for permits. */
  async #look(group: LimiterGroup, refused: HeardRefusal): Promise<RateWaitEnd> {
    const ahead = this.#queueInUse(group, group.definitions[refused.member]!)?.permits ?? 0;
    if (ahead === 0) return this.#refuseBy(group, refused);
    const question: Question = { permits: this.#permits, ahead, id: '', flag: 'n' };
    const { sinceMs, heardMs } = refused;
    const looked = await new AskedQuestion(this.#states.store, group, question, { sinceMs }).settled;
    if (looked.kind === 'unavailable') return 'unavailable';
    return this.#refuseBy(group, looked.kind === 'refused' ? { ...looked, sinceMs, heardMs } : refused);
  }

  async #untilTurn(group: LimiterGroup, refused: HeardRefusal): Promise<RateWaitEnd> {
    const end = await this.#place.wait(this.#wait);
    if (end === 'turn') return end;
    if (end === 'disposed') return flushed(refused.member);
    const reason = end === 'evicted' ? REASON.evicted : REASON.waitLimitReached;
    const retryAfterMs = this.#place.retryAfterMs(group.definitions[refused.member]!.clock.now());
    return refusal(refused.member, { reason, retryAfterMs, ...quotaKnown(group, refused) });
  }

  #refuseBy(group: LimiterGroup, answer: HeardRefusal): Outcome {
    const definition = group.definitions[answer.member]!;
    const seen = { mayWait: this.#wait.mayWait, hasRoom: this.#hasRoom(group, definition) };
    return refusalBy(group, answer, reasonOfRefusal(definition, seen));
  }

  #take(group: LimiterGroup, definition: LimiterDefinition, readyAtMs: number): boolean {
    const queue = this.#states.queue(group.partitionKey, definition);
    const asking = { lane: group.name, readyAtMs };
    return this.#place.take(queue, this.#permits, definition.queueLimit, asking);
  }

  #hasRoom(group: LimiterGroup, definition: LimiterDefinition): boolean {
    const { queueLimit } = definition;
    const queue = this.#queueInUse(group, definition);
    return queue?.hasRoom(this.#permits, queueLimit) ?? this.#permits <= queueLimit;
  }

  #queueInUse({ partitionKey }: LimiterGroup, definition: LimiterDefinition): RateQueue | undefined {
    return this.#states.queueInUse(partitionKey, definition);
  }
}
