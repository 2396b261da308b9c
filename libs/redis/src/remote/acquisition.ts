import type { Clock } from '@ratelease/limiters';
import type { WaitOutcome } from '../concurrency/wait-outcome.js';
import { REASON, REASON_OF_END, reasonOfRefusal } from '../leases/reasons.js';
import type { HeldPermits } from '../leases/remote-lease.js';
import { RemoteLease } from '../leases/remote-lease.js';
import type { RefusalFacts } from '../leases/remote-refused-lease.js';
import { RemoteRefusedLease, retryAfterMsOf } from '../leases/remote-refused-lease.js';
import type { Question } from '../store/decision-request.js';
import { NO_ROOM } from '../store/decision-request.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import { QueuePlace } from '../waiting/queue-place.js';
import type { RateQueue } from '../waiting/rate-queue.js';
import type { AcquisitionContext } from './acquisition-context.js';
import { AskedQuestion } from './asked-question.js';
import type { Heard, HeardGrant, HeardRefusal, HeardWait } from './heard.js';
import { refusedUnasked, standingNow } from './heard.js';
import type { LimiterDefinition } from './limiter-definition.js';
import type { Outcome } from './outcome.js';
import type { Wait } from './wait.js';

/** So often a request gives a lease back that it had waited for, because a rate beside it refused. */
const TURNS_BEFORE_KEEPING = 4;

/**
 * A request for permits of a group of limiters, from the question to the lease. It waits for one limiter at a time:
 * for a rate in this process, for a concurrency limiter in the server's queue; at its turn there all are asked.
 */
export class Acquisition {
  readonly #context: AcquisitionContext;
  readonly #current: () => LimiterGroup;
  #group: LimiterGroup;
  readonly #permits: number;
  readonly #wait: Wait;
  /** What the server keeps it as; empty until it has been asked for a lease. */
  #member = '';
  /** Granted by the server's queue, before the others of the group are asked. */
  #held: HeldPermits[] = [];
  #turns = 0;
  readonly #place = new QueuePlace();

  /** @param current - the limiters with the numbers that they have when it asks. */
  constructor(context: AcquisitionContext, current: () => LimiterGroup, permits: number, wait: Wait) {
    this.#context = context;
    this.#current = current;
    this.#group = current();
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
    const lowered = this.#followNumbers();
    if (lowered !== null) return lowered;
    if (!this.#group.hasConcurrency) return this.#follow(await this.#answer('n'));
    const isAgain = this.#held.length > 0;
    if (!isAgain) this.#member = `${states.store.nextId()}*${this.#permits}`;
    const member = this.#member;
    const keepers = this.#context.states.keepers(this.#group);
    let outcome: Promise<WaitOutcome> | null = null;
    if (!isAgain && this.#wait.mayWait && this.#group.hasServerQueue) {
      states.notifications.start();
      outcome = new Promise((settle) => {
        for (const keeper of keepers) keeper.expect(member, settle, (name) => this.#limitOf(name));
      });
    } else {
      for (const keeper of keepers) keeper.asks(member);
    }
    const answer = await this.#answer(outcome !== null ? 'w' : isAgain ? 'a' : 'n');
    if (answer.kind === 'waiting') return this.#waitForServer(answer, outcome!, member);
    for (const keeper of keepers) keeper.forget(member);
    return this.#follow(answer, member);
  }

  /** The limit that its limiter of a name has now; 0 where it has none of that name any more. */
  #limitOf(name: string): number {
    return this.#current().definitions.find((definition) => definition.name === name)?.limit ?? 0;
  }

  /** Goes on with the numbers that the limiters have now. The refusal where they are too small for it. */
  #followNumbers(): Outcome | null {
    const group = this.#current();
    // A lease of other numbers, or of another limiter, is no answer to what is asked now.
    if (group.name !== this.#group.name) this.#giveUpHeld();
    this.#group = group;
    const lowered = group.definitions.findIndex(({ limit }) => this.#permits > limit);
    return lowered < 0 ? null : this.#refuse(lowered, { reason: REASON.limitLowered });
  }

  async #answer(flag: Question['flag']): Promise<Heard> {
    const group = this.#group;
    // Those that wait for a rate in this process must not overtake each other on the way.
    const ahead = group.isInOrder && this.#permits > 0 && this.#wait.mayWait ? -1 : 0;
    const question = { permits: this.#permits, ahead, id: this.#member, flag };
    // Also where it goes on meanwhile, as a refusal stood, and asks under another id.
    const onAbandoned = (): void => this.#abandon(question.id, group);
    const request = new AskedQuestion(this.#context.states.store, group, question, { onAbandoned });
    const settled = await this.#wait.orAbort(request.settled, () => {
      if (this.#member !== '')
        for (const keeper of this.#context.states.keepers(this.#group)) keeper.forget(this.#member);
      request.giveUp();
    });
    // Not known yet when everything was given back.
    if ('nowUs' in settled && this.#context.states.isEnded) this.#abandon();
    return { ...settled, sinceMs: request.sinceMs, heardMs: this.#clock.now() };
  }

  #follow(answer: Heard, member = ''): Outcome | null | Promise<Outcome | null> {
    // Everything was given back at the end, and nobody waits any more.
    if (this.#context.states.isEnded && (this.#group.hasConcurrency || answer.kind !== 'granted'))
      return this.#flush(0, answer);
    if (answer.kind === 'refused') return this.#refused(answer);
    if (answer.kind !== 'granted') return this.#unavailable();
    // Not those from before it asked: a keeper that had nothing to keep meanwhile is gone.
    const keepers = this.#permits > 0 ? this.#context.states.keepers(this.#group) : [];
    for (const keeper of keepers) keeper.hold(member, answer.sinceMs);
    this.#held = keepers.map((keeper) => ({ keeper, member }));
    return this.#granted(answer);
  }

  #granted(answer: HeardGrant): Outcome {
    const { standing, nowUs } = answer;
    const asked = { group: this.#group, permits: this.#permits, store: this.#context.states.store };
    const lease = new RemoteLease({ ...asked, standing, nowUs, held: this.#held });
    this.#held = [];
    return { lease, refusedBy: -1, retryAfterOfAllMs: undefined };
  }

  async #waitForServer(
    answer: HeardWait,
    outcome: Promise<WaitOutcome>,
    member: string,
  ): Promise<Outcome | null> {
    const definition = this.#group.definitions[answer.member]!;
    const keeper = this.#context.states.keeper(this.#group.partitionKey, definition);
    for (const other of this.#context.states.keepers(this.#group)) if (other !== keeper) other.disown(member);
    keeper.waits(member, answer.standing[answer.member]!, answer.sinceMs);
    const ended = await this.#wait.race(outcome, () => this.#abandon());
    const { end, remaining } =
      typeof ended === 'string' ? { end: ended, remaining: keeper.remaining } : ended;
    if (end === 'lost') return null;
    const standing = standingNow(answer, this.#clock).map((one, member) =>
      member === answer.member ? { ...one, remaining } : one,
    );
    if (end !== 'granted') {
      const facts = { reason: REASON_OF_END[end], group: this.#group, standing };
      return { ...this.#refuse(answer.member, facts), isFlushed: end === 'disposed' };
    }
    if (this.#permits > 0) this.#held = [{ keeper, member }];
    // Alone, it has all it asked for.
    return this.#group.definitions.length > 1 ? null : this.#granted({ ...answer, standing });
  }

  get #clock(): Clock {
    return this.#group.definitions[0]!.clock;
  }

  #refused(answer: HeardRefusal): Outcome | null | Promise<Outcome | null> {
    const definition = this.#group.definitions[answer.member]!;
    const isRate = definition.algorithm !== 'concurrency';
    if (this.#held.length > 0 && (!isRate || ++this.#turns < TURNS_BEFORE_KEEPING)) this.#giveUpHeld();
    if (!isRate || definition.queueLimit === 0) return this.#refuseBy(answer);
    if (this.#wait.mayWait) return this.#enterQueue(answer);
    return this.#queueInUse(definition)?.isAhead ? this.#look(answer) : this.#refuseBy(answer);
  }

  #enterQueue(answer: HeardRefusal): Outcome | Promise<Outcome | null> {
    const definition = this.#group.definitions[answer.member]!;
    const waitMs = Math.max(0, answer.waitUs) / 1_000;
    const isIn = this.#place.isTaken || this.#hasRoom(answer);
    if (isIn && waitMs > this.#wait.leftMs) return this.#refuseBy(answer, REASON.waitLimitReached);
    if (!isIn || !this.#take(definition, definition.clock.now() + waitMs)) return this.#look(answer);
    return this.#waitInQueue(answer);
  }

  /** Somebody waits for a limiter of the group already. */
  async #standBehind(member: number): Promise<Outcome | null> {
    const refused = refusedUnasked(member, this.#clock);
    const hasPlace = this.#wait.mayWait && this.#take(this.#group.definitions[member]!, 0);
    return hasPlace ? this.#waitInQueue(refused) : this.#look(refused);
  }

  /** There is no room in the queue: asks only how long it would have been. Behind nobody that is known, and would ask for permits. */
  async #look(refused: HeardRefusal): Promise<Outcome> {
    const ahead = this.#queueInUse(this.#group.definitions[refused.member]!)?.permits ?? 0;
    if (ahead === 0) return this.#refuseBy(refused);
    const question: Question = { permits: this.#permits, ahead, id: '', flag: 'n' };
    const { sinceMs, heardMs } = refused;
    const asked = new AskedQuestion(this.#context.states.store, this.#group, question, { sinceMs });
    const looked = await asked.settled;
    if (looked.kind === 'unavailable') return this.#unavailable();
    return this.#refuseBy(looked.kind === 'refused' ? { ...looked, sinceMs, heardMs } : refused);
  }

  #queueInUse(definition: LimiterDefinition): RateQueue | undefined {
    return this.#context.states.queueInUse(this.#group.partitionKey, definition);
  }

  #take(definition: LimiterDefinition, readyAtMs: number): boolean {
    const queue = this.#context.states.queue(this.#group.partitionKey, definition);
    const asking = { lane: this.#group.name, readyAtMs };
    return this.#place.take(queue, this.#permits, definition.queueLimit, asking);
  }

  async #waitInQueue(refused: HeardRefusal): Promise<Outcome | null> {
    const end = await this.#place.wait(this.#wait);
    if (end === 'turn') return null;
    if (end === 'disposed') return this.#flush(refused.member);
    const reason = end === 'evicted' ? REASON.evicted : REASON.waitLimitReached;
    const retryAfterMs = this.#place.retryAfterMs(this.#group.definitions[refused.member]!.clock.now());
    return this.#refuse(refused.member, { reason, retryAfterMs, ...this.#quotaOf(refused) });
  }

  #refuseBy(answer: HeardRefusal, reason?: string): Outcome {
    const definition = this.#group.definitions[answer.member]!;
    const { mayWait } = this.#wait;
    const facts = {
      reason: reason ?? reasonOfRefusal(definition, { mayWait, hasRoom: this.#hasRoom(answer) }),
      retryAfterMs: retryAfterMsOf(answer.waitUs),
      ...this.#quotaOf(answer),
    };
    return { ...this.#refuse(answer.member, facts), retryAfterOfAllMs: retryAfterMsOf(answer.longestUs) };
  }

  /** Nothing where it has never asked, as it stood behind others. */
  #quotaOf(refused: HeardRefusal): Pick<RefusalFacts, 'group' | 'standing'> {
    return refused.standing.length > 0
      ? { group: this.#group, standing: standingNow(refused, this.#clock) }
      : {};
  }

  /** Whether the queue of the limiter that refuses would have a place: the server's, or that of this process. */
  #hasRoom({ member, waitUs }: HeardRefusal): boolean {
    const definition = this.#group.definitions[member]!;
    if (definition.algorithm === 'concurrency') return waitUs !== NO_ROOM;
    const { queueLimit } = definition;
    return this.#queueInUse(definition)?.hasRoom(this.#permits, queueLimit) ?? this.#permits <= queueLimit;
  }

  #refuse(refusedBy: number, facts: RefusalFacts): Outcome {
    this.#giveUpHeld();
    const lease = new RemoteRefusedLease(facts);
    return { lease, refusedBy, retryAfterOfAllMs: facts.retryAfterMs };
  }

  /** The end. What its rates have just granted nobody gets; its leases are given back with all others. */
  #flush(member: number, answer?: Heard): Outcome {
    if (answer?.kind === 'granted' && this.#permits > 0)
      void this.#context.states.store.giveBack(this.#group, this.#permits, answer);
    return { ...this.#refuse(member, { reason: REASON.limiterDisposed }), isFlushed: true };
  }

  async #unavailable(): Promise<Outcome> {
    this.#giveUpHeld();
    this.#place.leave();
    const { signal, leftMs: maxWaitMs } = this.#wait;
    const answer = await this.#context.withoutStore.answer(this.#group, this.#permits, { signal, maxWaitMs });
    return { ...answer, retryAfterOfAllMs: undefined };
  }

  #blockingMember(): number {
    return this.#group.definitions.findIndex((definition) =>
      this.#queueInUse(definition)?.blocks(this.#permits),
    );
  }

  /** What the server may have granted under this id must not stay. */
  #abandon(member = this.#member, group = this.#group): void {
    if (member === '') return;
    for (const keeper of this.#context.states.keepers(group)) void keeper.abandon(member);
    if (member === this.#member) this.#held = [];
  }

  #giveUpHeld(): void {
    for (const { keeper, member } of this.#held) void keeper.release(member);
    this.#held = [];
  }
}
