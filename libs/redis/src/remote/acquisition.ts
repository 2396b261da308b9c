import { Claim } from '../concurrency/claim.js';
import type { WaitOutcome } from '../concurrency/wait-outcome.js';
import { REASON, REASON_OF_END, reasonOfRefusal } from '../leases/reasons.js';
import { RemoteLease } from '../leases/remote-lease.js';
import type { Question } from '../store/decision-request.js';
import { NO_ROOM } from '../store/decision-request.js';
import { LimiterGroup } from '../store/limiter-group.js';
import type { Standing } from '../store/standing.js';
import type { RateWaitEnd } from '../waiting/rate-wait.js';
import { RateWait } from '../waiting/rate-wait.js';
import type { AcquisitionContext } from './acquisition-context.js';
import { AskedQuestion } from './asked-question.js';
import type { Heard, HeardGrant, HeardRefusal, HeardWait } from './heard.js';
import { standingNow } from './heard.js';
import type { LimiterDefinition } from './limiter-definition.js';
import type { Outcome } from './outcome.js';
import { clockOf, flushed, refusal, refusalBy } from './refusals.js';
import type { Wait } from './wait.js';

/** So often a request gives back what it had waited for, because another limiter refused at its turn. */
const TURNS_BEFORE_KEEPING = 4;

/**
 * A request for permits of a group of limiters, from the question to the lease. It waits for one limiter at a time, for
 * a rate in this process, for a concurrency limiter in the server's queue, and holds nothing meanwhile; at its turn
 * there all are asked. A request that was passed over often keeps what it gets. All that do take the permits of
 * concurrency limiters in one order, and wait for rates, which need nobody to give anything back, with those in hand:
 * so no two wait for each other.
 */
export class Acquisition {
  readonly #context: AcquisitionContext;
  readonly #current: () => LimiterGroup;
  #group: LimiterGroup;
  readonly #permits: number;
  readonly #wait: Wait;
  readonly #claim: Claim;
  readonly #rates: RateWait;
  #turns = 0;
  /** What all of the group have answered last. */
  #heard: HeardRefusal | HeardWait | undefined = undefined;

  /** @param current - the limiters with the numbers that they have when it asks. */
  constructor(context: AcquisitionContext, current: () => LimiterGroup, permits: number, wait: Wait) {
    this.#context = context;
    this.#current = current;
    this.#group = current();
    this.#permits = permits;
    this.#wait = wait;
    this.#claim = new Claim(context.states, permits, (name) => this.#limitOf(name));
    this.#rates = new RateWait(context.states, permits, wait);
  }

  /** Rejects with the reason of an abort, and with nothing else. */
  async run(): Promise<Outcome> {
    try {
      const blocked = this.#rates.blockedBy(this.#group);
      let outcome =
        blocked < 0 ? await this.#ask() : await this.#waited(this.#rates.behind(this.#group, blocked));
      // oxlint-disable-next-line no-await-in-loop -- each answer decides about the next question
      while (outcome === null) outcome = await this.#ask();
      return outcome;
    } finally {
      // What a lease holds isn't the request's any more.
      this.#claim.giveUp();
      this.#rates.leave();
      this.#wait.end();
      this.#context.states.tidy(this.#group);
    }
  }

  /** Asks the limiters once, and waits where it has to. `null`: ask again. */
  async #ask(): Promise<Outcome | null> {
    const lowered = this.#followNumbers();
    if (lowered !== null) return lowered;
    if (!this.#group.hasConcurrency) return this.#follow(await this.#answer(this.#group, 'n'));
    const next = this.#nextToKeep();
    if (next !== undefined) return this.#askToWait(new LimiterGroup(this.#group.partitionKey, [next]));
    const waits = !this.#claim.holdsPermits && this.#wait.mayWait && this.#group.hasServerQueue;
    return waits ? this.#askToWait(this.#group) : this.#askAtOnce();
  }

  /** The limit that its limiter of a name has now; 0 where it has none of that name any more. */
  #limitOf(name: string): number {
    return this.#current().definitions.find((definition) => definition.name === name)?.limit ?? 0;
  }

  /** Goes on with the numbers that the limiters have now. The refusal where they are too small for it. */
  #followNumbers(): Outcome | null {
    const group = this.#current();
    if (group.name !== this.#group.name) {
      // With other numbers what it has waited for is still there; of another limiter it has nothing.
      if (!this.#claim.isOf(group)) this.#claim.giveUp();
      this.#heard = undefined;
    }
    this.#group = group;
    const lowered = group.definitions.findIndex(({ limit }) => this.#permits > limit);
    return lowered < 0 ? null : refusal(lowered, { reason: REASON.limitLowered });
  }

  /**
   * Of a request that was passed over often, the concurrency limiter whose permits it takes next; `undefined` where it
   * has all of them, or isn't so far yet.
   */
  #nextToKeep(): LimiterDefinition | undefined {
    if (this.#turns < TURNS_BEFORE_KEEPING || this.#permits === 0) return undefined;
    const { inOrderOfNames } = this.#group;
    const next = inOrderOfNames.findIndex((one) => !this.#claim.holds(this.#group, one));
    // One that comes before was lost, or was never waited for.
    if (next >= 0 && inOrderOfNames.slice(next).some((one) => this.#claim.holds(this.#group, one)))
      this.#claim.giveUp();
    return this.#claim.holdsPermits ? inOrderOfNames[next] : inOrderOfNames[0];
  }

  async #askAtOnce(): Promise<Outcome | null> {
    const group = this.#group;
    const flag = this.#claim.holdsPermits ? 'a' : 'n';
    this.#claim.begin();
    this.#claim.asks(group);
    const answer = await this.#answer(group, flag);
    this.#claim.forget(group);
    return this.#follow(answer);
  }

  /** Asks all of the group, or one of it alone, and waits in the queue of the one that refuses. */
  async #askToWait(asked: LimiterGroup): Promise<Outcome | null> {
    // Who asks only now would wait with nobody left to end that.
    if (this.#context.states.isEnded) return flushed(0);
    this.#claim.begin();
    const outcome = this.#claim.expects(asked);
    const answer = await this.#answer(asked, 'w');
    if (answer.kind === 'waiting') return this.#waitForServer(asked, answer, outcome);
    this.#claim.forget(asked);
    if (asked === this.#group) return this.#follow(answer);
    if (this.#context.states.isEnded) return flushed(0);
    if (answer.kind === 'unavailable') return this.#unavailable();
    if (answer.kind === 'refused')
      return this.#refuseAtTurn(
        asked.definitions[0]!,
        this.#reasonOf(asked, answer),
        answer.standing[0]!.remaining,
      );
    this.#claim.granted(asked, answer.sinceMs);
    return null;
  }

  async #answer(group: LimiterGroup, flag: Question['flag']): Promise<Heard> {
    // Those that wait for a rate in this process must not overtake each other on the way.
    const ahead = group.isInOrder && this.#permits > 0 && this.#wait.mayWait ? -1 : 0;
    const question = { permits: this.#permits, ahead, id: this.#claim.member, flag };
    // Also where it goes on meanwhile, as a refusal stood, and asks under another id.
    const onAbandoned = (): void => this.#claim.abandon(group, question.id);
    const request = new AskedQuestion(this.#context.states.store, group, question, { onAbandoned });
    const settled = await this.#wait.orAbort(request.settled, () => {
      this.#claim.forget(group);
      request.giveUp();
    });
    // Not known yet when everything was given back.
    if ('nowUs' in settled && this.#context.states.isEnded) this.#claim.abandon(group);
    return { ...settled, sinceMs: request.sinceMs, heardMs: clockOf(group).now() };
  }

  /** All of the group have answered. */
  #follow(answer: Heard): Outcome | null | Promise<Outcome | null> {
    // Everything was given back at the end, and nobody waits any more.
    if (this.#context.states.isEnded && (this.#group.hasConcurrency || answer.kind !== 'granted'))
      return this.#flush(answer);
    if (answer.kind === 'refused') return this.#refused(answer);
    if (answer.kind !== 'granted') return this.#unavailable();
    this.#claim.granted(this.#group, answer.sinceMs);
    return this.#granted(answer);
  }

  #granted({ standing, nowUs }: HeardGrant): Outcome {
    const asked = { group: this.#group, permits: this.#permits, store: this.#context.states.store };
    const lease = new RemoteLease({ ...asked, standing, nowUs, held: this.#claim.handOver() });
    return { lease, refusedBy: -1, retryAfterOfAllMs: undefined };
  }

  async #waitForServer(
    asked: LimiterGroup,
    answer: HeardWait,
    outcome: Promise<WaitOutcome>,
  ): Promise<Outcome | null> {
    // Who stands behind it in the queue of a rate may have what it waits for.
    this.#rates.leave();
    if (asked === this.#group) this.#heard = answer;
    const definition = asked.definitions[answer.member]!;
    const keeper = this.#claim.waits(asked, definition, answer);
    const ended = await this.#wait.race(outcome, () => this.#claim.abandon(asked));
    const { end, remaining } =
      typeof ended === 'string' ? { end: ended, remaining: keeper.remaining } : ended;
    if (end === 'lost') {
      // Under another id: that the place was given up may be heard after it has asked again.
      this.#claim.giveUp();
      return null;
    }
    if (end !== 'granted') {
      const refused = this.#refuseAtTurn(definition, REASON_OF_END[end], remaining);
      return { ...refused, isFlushed: end === 'disposed' };
    }
    this.#claim.grantedBy(keeper);
    if (this.#group.definitions.length > 1) return null;
    // Alone, it has all it asked for.
    return this.#granted({ ...answer, standing: this.#standing(definition, remaining) });
  }

  /** All of the group were asked, and one refuses. */
  #refused(answer: HeardRefusal): Outcome | null | Promise<Outcome | null> {
    this.#heard = answer;
    const { algorithm, queueLimit } = this.#group.definitions[answer.member]!;
    const isRate = algorithm !== 'concurrency';
    const isPassedOver = this.#claim.holdsPermits && queueLimit > 0;
    // One whose permits it should have is refusing: they were lost, whether that is known here yet or not.
    if (isPassedOver && (++this.#turns < TURNS_BEFORE_KEEPING || !isRate || this.#nextToKeep() !== undefined))
      this.#claim.giveUp();
    if (isRate && queueLimit > 0) return this.#waited(this.#rates.refused(this.#group, answer));
    return isPassedOver ? null : refusalBy(this.#group, answer, this.#reasonOf(this.#group, answer));
  }

  /** The limiter whose turn it waited for, or waits for next, refuses it. */
  #refuseAtTurn(definition: LimiterDefinition, reason: string | undefined, remaining: number): Outcome {
    const quota =
      this.#heard === undefined
        ? {}
        : { group: this.#group, standing: this.#standing(definition, remaining) };
    return refusal(this.#group.definitions.indexOf(definition), { reason, ...quota });
  }

  /** How the limiters stand, as far as is known, where one of them has told more since. */
  #standing(told: LimiterDefinition, remaining: number): Standing {
    const { definitions } = this.#group;
    return standingNow(this.#heard!, clockOf(this.#group)).map((one, member) =>
      definitions[member] === told ? { ...one, remaining } : one,
    );
  }

  #reasonOf(asked: LimiterGroup, { member, waitUs }: HeardRefusal): string | undefined {
    const seen = { mayWait: this.#wait.mayWait, hasRoom: waitUs !== NO_ROOM };
    return reasonOfRefusal(asked.definitions[member]!, seen);
  }

  async #waited(wait: Promise<RateWaitEnd>): Promise<Outcome | null> {
    const end = await wait;
    if (end === 'turn') return null;
    return end === 'unavailable' ? this.#unavailable() : end;
  }

  /** The end. What its rates have just granted nobody gets; its leases are given back with all others. */
  #flush(answer: Heard): Outcome {
    if (answer.kind === 'granted' && this.#permits > 0)
      void this.#context.states.store.giveBack(this.#group, this.#permits, answer);
    return flushed(0);
  }

  async #unavailable(): Promise<Outcome> {
    this.#claim.giveUp();
    this.#rates.leave();
    const { signal, leftMs: maxWaitMs, onWait } = this.#wait;
    const wait = { signal, maxWaitMs, onWait };
    const answer = await this.#context.withoutStore.answer(this.#group, this.#permits, wait);
    return { ...answer, retryAfterOfAllMs: undefined };
  }
}
