import type { RateLimitLease } from '@ratelease/limiters';
import type { LeaseKeeper, WaitOutcome } from '../concurrency/lease-keeper.js';
import { REASON } from '../leases/reasons.js';
import type { HeldPermits } from '../leases/remote-lease.js';
import { RemoteLease } from '../leases/remote-lease.js';
import type { RefusalFacts } from '../leases/remote-refused-lease.js';
import { RemoteRefusedLease, retryAfterMsOf } from '../leases/remote-refused-lease.js';
import type { Answer, Question } from '../store/decision-request.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import type { WithoutStore } from '../unavailable/without-store.js';
import { QueuePlace } from '../waiting/queue-place.js';
import type { RateQueue } from '../waiting/rate-queue.js';
import type { LimiterDefinition } from './limiter-definition.js';
import { AskedQuestion } from './asked-question.js';
import type { Wait } from './wait.js';
import type { ProcessStates } from './process-states.js';

/** What an acquisition works with. */
export interface AcquisitionContext {
  readonly states: ProcessStates;
  readonly withoutStore: WithoutStore;
}

/** What came out of an acquisition, for a chain that has to know more than the lease tells. */
export interface Outcome {
  readonly lease: RateLimitLease;
  /** The first limiter of the group that refused; -1 for none. */
  readonly refusedBy: number;
  /** Milliseconds until all limiters of the group that refuse would grant. */
  readonly retryAfterOfAllMs: number | undefined;
}

type Granted = Extract<Answer, { kind: 'granted' | 'waiting' }>;
type Refused = Extract<Answer, { kind: 'refused' }>;

const REASON_OF_END = {
  evicted: REASON.evicted,
  timedOut: REASON.waitLimitReached,
  disposed: REASON.limiterDisposed,
} as const;

/** So often a request gives a lease back that it had waited for, because a rate beside it refused. */
const TURNS_BEFORE_KEEPING = 4;

/**
 * A request for permits of a group of limiters, from the question to the lease. It waits for one limiter at a time:
 * for a rate in this process, for a concurrency limiter in the server's queue; at its turn there all are asked.
 */
export class Acquisition {
  readonly #context: AcquisitionContext;
  readonly #group: LimiterGroup;
  readonly #permits: number;
  readonly #wait: Wait;
  #id = '';
  /** Granted by the server's queue, before the others of the group are asked. */
  #held: HeldPermits[] = [];
  #turns = 0;
  readonly #place = new QueuePlace();

  constructor(context: AcquisitionContext, group: LimiterGroup, permits: number, wait: Wait) {
    this.#context = context;
    this.#group = group;
    this.#permits = permits;
    this.#wait = wait;
  }

  /** Rejects with the reason of an abort, and with nothing else. */
  async run(): Promise<Outcome> {
    try {
      const blocked = this.#blockingMember();
      let outcome = blocked < 0 ? await this.#ask() : await this.#standBehind(blocked);
      // oxlint-disable-next-line no-await-in-loop -- each answer decides about the next question
      while (outcome === null) outcome = await this.#ask();
      return outcome;
    } catch (error) {
      this.#giveUpHeld();
      throw error;
    } finally {
      this.#place.leave();
      this.#wait.end();
      this.#context.states.tidy(this.#group);
    }
  }

  /** Asks all limiters once, and waits where it has to. `null`: ask again. */
  async #ask(): Promise<Outcome | null> {
    const { states } = this.#context;
    if (!this.#group.hasConcurrency) return this.#follow(await this.#answer('n'));
    if (this.#held.length === 0) this.#id = states.store.nextId();
    const member = `${this.#id}*${this.#permits}`;
    const flag = this.#held.length > 0 ? 'a' : this.#wait.mayWait && this.#hasServerQueue() ? 'w' : 'n';
    if (flag !== 'w') return this.#follow(await this.#answer(flag), member);
    await states.notifications.start(this.#group.timeoutMs);
    let settle!: (outcome: WaitOutcome) => void;
    const outcome = new Promise<WaitOutcome>((resolve) => (settle = resolve));
    const keepers = this.#keepers();
    for (const keeper of keepers) keeper.expect(member, settle);
    const answer = await this.#answer(flag);
    if (answer.kind === 'waiting') return this.#waitForServer(answer, outcome, member);
    for (const keeper of keepers) keeper.forget(member);
    return this.#follow(answer, member);
  }

  async #answer(flag: Question['flag']): Promise<Answer & { sinceMs: number }> {
    const { store } = this.#context.states;
    // Those that wait for a rate in this process must not overtake each other on the way.
    const ahead = this.#group.isInOrder && this.#permits > 0 && this.#wait.mayWait ? -1 : 0;
    const question = { permits: this.#permits, ahead, id: this.#id, flag };
    const request = new AskedQuestion(store, this.#group, question, () => this.#abandon());
    const settled = await this.#wait.orAbort(request.settled, () => {
      request.giveUp();
      this.#abandon();
    });
    if (settled.kind === 'unavailable' && request.isSent) this.#abandon();
    return { ...settled, sinceMs: request.sinceMs };
  }

  #follow(answer: Answer & { sinceMs: number }, member = ''): Outcome | null | Promise<Outcome | null> {
    if (answer.kind === 'refused') return this.#refused(answer);
    if (answer.kind !== 'granted') return this.#unavailable();
    // Not those from before it asked: a keeper that had nothing to keep meanwhile is gone.
    const keepers = this.#permits > 0 ? this.#keepers() : [];
    for (const keeper of keepers) keeper.hold(member, answer.sinceMs);
    this.#held = keepers.map((keeper) => ({ keeper, member }));
    return this.#granted(answer);
  }

  #granted(answer: Granted): Outcome {
    const held = this.#held;
    this.#held = [];
    const { standing, nowUs } = answer;
    const { store } = this.#context.states;
    const lease = new RemoteLease({
      group: this.#group,
      standing,
      nowUs,
      permits: this.#permits,
      store,
      held,
    });
    return { lease, refusedBy: -1, retryAfterOfAllMs: undefined };
  }

  async #waitForServer(
    answer: Extract<Answer, { kind: 'waiting' }>,
    outcome: Promise<WaitOutcome>,
    member: string,
  ): Promise<Outcome | null> {
    const definition = this.#group.definitions[answer.member]!;
    const keeper = this.#context.states.keeper(this.#group.partitionKey, definition);
    for (const other of this.#keepers()) if (other !== keeper) other.forget(member);
    keeper.waits(member, answer.standing[answer.member]!.resetUs);
    const ended = await this.#wait.race(outcome, () => this.#abandon());
    if (ended === 'lost') return null;
    if (ended !== 'granted') return this.#refuse(answer.member, { reason: REASON_OF_END[ended] });
    if (this.#permits > 0) this.#held = [{ keeper, member }];
    // Alone, it has all it asked for.
    return this.#group.definitions.length > 1 ? null : this.#granted(answer);
  }

  #refused(answer: Refused): Outcome | null | Promise<Outcome | null> {
    const definition = this.#group.definitions[answer.member]!;
    const isRate = definition.algorithm !== 'concurrency';
    if (this.#held.length > 0 && (!isRate || ++this.#turns < TURNS_BEFORE_KEEPING)) this.#giveUpHeld();
    const mayWait = this.#wait.mayWait && definition.queueLimit > 0;
    if (!isRate || !mayWait) return this.#refuseBy(answer);
    const waitMs = Math.max(0, answer.waitUs) / 1_000;
    if (waitMs > this.#wait.leftMs) return this.#refuseBy(answer, REASON.waitLimitReached);
    if (!this.#take(definition, definition.clock.now() + waitMs)) return this.#look(answer);
    return this.#waitInQueue(answer);
  }

  /** Somebody waits for a limiter of the group already. */
  async #standBehind(member: number): Promise<Outcome | null> {
    const refused: Refused = { kind: 'refused', member, waitUs: -1, longestUs: -1, standing: [] };
    const hasPlace = this.#wait.mayWait && this.#take(this.#group.definitions[member]!, 0);
    return hasPlace ? this.#waitInQueue(refused) : this.#look(refused);
  }

  /** There is no room in the queue: asks only how long it would have been. */
  async #look(refused: Refused): Promise<Outcome> {
    const queue = this.#queueOf(this.#group.definitions[refused.member]!);
    const question: Question = { permits: this.#permits, ahead: queue.permits, id: '', flag: 'n' };
    const looked = await new AskedQuestion(this.#context.states.store, this.#group, question).settled;
    if (looked.kind === 'unavailable') return this.#unavailable();
    if (looked.kind === 'granted') return this.#granted(looked);
    return this.#refuseBy(looked.kind === 'refused' ? looked : refused);
  }

  #queueOf(definition: LimiterDefinition): RateQueue {
    return this.#context.states.queue(this.#group.partitionKey, definition);
  }

  #take(definition: LimiterDefinition, readyAtMs: number): boolean {
    const asking = { lane: this.#group.name, readyAtMs };
    return this.#place.take(this.#queueOf(definition), this.#permits, definition.queueLimit, asking);
  }

  async #waitInQueue(refused: Refused): Promise<Outcome | null> {
    const end = await this.#place.wait(this.#wait);
    if (end === 'turn') return null;
    if (end === 'disposed') return this.#refuse(refused.member, { reason: REASON.limiterDisposed });
    const nowMs = this.#group.definitions[refused.member]!.clock.now();
    const reason = end === 'evicted' ? REASON.evicted : REASON.waitLimitReached;
    return this.#refuse(refused.member, { reason, retryAfterMs: this.#place.retryAfterMs(nowMs) });
  }

  #refuseBy(answer: Refused, reason?: string): Outcome {
    const definition = this.#group.definitions[answer.member]!;
    const { standing, longestUs } = answer;
    const facts = {
      reason: reason ?? this.#reasonOf(definition.algorithm === 'concurrency', definition.queueLimit),
      retryAfterMs: retryAfterMsOf(answer.waitUs),
      ...(standing.length > 0 ? { group: this.#group, standing } : {}),
    };
    return { ...this.#refuse(answer.member, facts), retryAfterOfAllMs: retryAfterMsOf(longestUs) };
  }

  #reasonOf(isConcurrency: boolean, queueLimit: number): string | undefined {
    if (!isConcurrency) return undefined;
    if (queueLimit === 0) return REASON.permitLimitReached;
    return this.#wait.mayWait ? REASON.queueLimitReached : REASON.waitLimitReached;
  }

  #refuse(refusedBy: number, facts: RefusalFacts): Outcome {
    this.#giveUpHeld();
    const lease = new RemoteRefusedLease(facts);
    return { lease, refusedBy, retryAfterOfAllMs: facts.retryAfterMs };
  }

  async #unavailable(): Promise<Outcome> {
    this.#giveUpHeld();
    this.#place.leave();
    const { signal, leftMs } = this.#wait;
    const options = { signal, maxWaitMs: leftMs };
    const answer = await this.#context.withoutStore.answer(this.#group, this.#permits, options);
    return {
      lease: answer.lease,
      refusedBy: answer.lease.isAcquired ? -1 : answer.refusedBy,
      retryAfterOfAllMs: undefined,
    };
  }

  #blockingMember(): number {
    const { states } = this.#context;
    return this.#group.definitions.findIndex((definition) =>
      states.queueInUse(this.#group.partitionKey, definition)?.blocks(this.#permits),
    );
  }

  #hasServerQueue(): boolean {
    return this.#group.definitions.some(
      ({ algorithm, queueLimit }) => algorithm === 'concurrency' && queueLimit > 0,
    );
  }

  #keepers(): LeaseKeeper[] {
    const { partitionKey, definitions } = this.#group;
    return definitions
      .filter(({ algorithm }) => algorithm === 'concurrency')
      .map((definition) => this.#context.states.keeper(partitionKey, definition));
  }

  /** What the server may have granted under this id must not stay. */
  #abandon(): void {
    if (this.#id === '') return;
    const member = `${this.#id}*${this.#permits}`;
    for (const keeper of this.#keepers()) void keeper.abandon(member);
    this.#held = [];
  }

  #giveUpHeld(): void {
    for (const { keeper, member } of this.#held) void keeper.release(member);
    this.#held = [];
  }
}
