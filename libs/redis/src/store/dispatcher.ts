import { setImmediate } from 'node:timers';
import { argumentsOf, arrange, Call, deadlineOf, keysOf } from './call.js';
import type { CallPart } from './call.js';
import type { ScriptSender } from '../scripts/script.js';
import { isServerError } from '../scripts/server-error.js';
import type { DecisionRequest } from './decision-request.js';
import type { Lane } from './lane.js';
import { Lanes } from './lanes.js';
import type { LimiterGroup } from './limiter-group.js';
import { AnswerReader, numbersIn } from './read-answers.js';
import type { Returning, Returns } from './returns.js';
import { untilHeard } from './returns.js';
import { settledWithin } from './settled-within.js';
import type { Store } from './store.js';

/** A call is sent again so often when its connection is lost, each time on a new one. */
const MOST_ATTEMPTS = 3;

/**
 * So many groups are sent before the turn of the event loop is over: the server decides on them while this process
 * goes on asking. Sent all together at its end, each side would wait for the other, turn by turn. Measured: with fewer in
 * a call its own cost shows, with more the waiting.
 */
const GROUPS_AT_ONCE = 32;
/** The same where each group takes a call of its own: so many writes to the socket go in one. */
const CALLS_AT_ONCE = 4;

/** Sends the decisions of a turn of the event loop: those of a group in one call, several groups in one where that goes. */
export class Dispatcher implements ScriptSender<Call> {
  readonly #store: Store;
  readonly #groupsPerCall: number;
  readonly #groupsAtOnce: number;
  readonly #lanes = new Lanes();
  readonly #returns: Returns;
  #due: Lane[] = [];
  /** Calls whose connection was lost before the answer: whether they were carried out, nobody knows. */
  #interrupted: Call[] = [];
  #isScheduled = false;
  #lastSequence = 0;
  readonly #onTurnEnd = (): void => {
    this.#isScheduled = false;
    this.flush();
  };

  constructor(store: Store, groupsPerCall: number) {
    this.#store = store;
    this.#returns = store.returns;
    this.#groupsPerCall = groupsPerCall;
    this.#groupsAtOnce = groupsPerCall === 1 ? CALLS_AT_ONCE : GROUPS_AT_ONCE;
  }

  ask(request: DecisionRequest): void {
    const lane = this.#lanes.of(request.group);
    lane.add(request);
    this.#schedule(lane);
  }

  /** Resolves when the server has been told, or can't be. */
  giveBack(group: LimiterGroup, grant: readonly string[]): Promise<void> {
    if (group.givingBackScript === null) return Promise.resolve();
    return new Promise((done) => {
      const lane = this.#lanes.of(group);
      lane.addGivingBack({ grant, done });
      this.#schedule(lane);
    });
  }

  /**
   * Leases are to be given back: before whatever their limiter is asked from now on.
   * @param isSoon - with the next flush, whether it is asked anything or not.
   */
  giveBackLeases(returning: Returning, isSoon: boolean): void {
    this.#returns.keep(returning);
    if (!isSoon) return;
    this.#returns.addDue(returning);
    this.#scheduleFlush();
  }

  /** There is a connection again. */
  resume(): void {
    this.#returns.sendKept();
    this.flush();
  }

  /** Sends what is due. Without a connection it stays: the connection comes, or the requests' time is over. */
  flush(): void {
    const { isDue } = this.#returns;
    if (!isDue && this.#due.length === 0 && this.#interrupted.length === 0) return;
    if (!this.#store.connection.isReady) {
      this.#returns.sendDue();
      return this.#store.connection.wake();
    }
    const due = this.#due;
    const interrupted = this.#interrupted;
    this.#due = [];
    // One command alone is in one write anyway.
    if (!isDue && interrupted.length === 0 && due.length === 1) return this.#sendAlone(due[0]!);
    this.#interrupted = [];
    this.#store.connection.together(() => {
      this.#returns.sendDue();
      // Also where nobody waits any more: what was granted has to be given back.
      for (const call of interrupted) this.#sendAgain(call);
      if (this.#groupsPerCall === 1) for (const lane of due) this.#sendAlone(lane);
      else this.#sendTogether(due);
    });
  }

  #sendTogether(due: readonly Lane[]): void {
    const calls = new Map<string, Call>();
    for (const lane of due) {
      const requests = this.#requestsOf(lane);
      if (requests !== null) this.#addTo(calls, { lane, requests });
    }
    for (const call of calls.values()) this.#send(call);
  }

  #sendAlone(lane: Lane): void {
    const requests = this.#requestsOf(lane);
    if (requests !== null) this.#send(new Call({ lane, requests }, this.#nextSequence()));
  }

  /** What goes in a call next, where that is something; permits that are given back go before it, in a call of their own. */
  #requestsOf(lane: Lane): readonly DecisionRequest[] | null {
    lane.isDue = false;
    if (lane.isBusy) return null;
    if (lane.givesBack) {
      void this.#sendGivingBack(lane);
      return null;
    }
    const requests = lane.takeNext();
    if (requests.length > 0) {
      lane.isBusy = true;
      this.#returns.sendBefore(lane.group);
      return requests;
    }
    lane.tellIfIdle();
    return null;
  }

  /** The store is lost: nobody waits for a connection any more. What is given back does. */
  failPending(): void {
    for (const lane of this.#lanes) {
      for (const request of lane.takeAll()) request.fail();
      lane.tellIfIdle();
    }
  }

  /** Nobody is answered any more, and nothing given back. */
  end(): void {
    for (const lane of this.#lanes) lane.forgetGivingBack();
    this.failPending();
  }

  /**
   * Resolves when the server has answered all that it was asked, and been told all that is given back; where it does
   * not answer, after the time of a command.
   */
  async drain(): Promise<void> {
    let timeoutMs = 0;
    for (const { isIdle, group } of this.#lanes)
      if (!isIdle) timeoutMs = Math.max(timeoutMs, group.timeoutMs);
    if (timeoutMs > 0) await settledWithin(this.#untilIdle(), timeoutMs);
  }

  async #untilIdle(): Promise<void> {
    for (;;) {
      const busy = [...this.#lanes].filter(({ isIdle }) => !isIdle);
      if (busy.length === 0) return;
      // oxlint-disable-next-line no-await-in-loop -- whoever is answered may give something back
      await Promise.all(busy.map((lane) => lane.untilIdle()));
      // oxlint-disable-next-line no-await-in-loop -- before the turn is over
      await new Promise(setImmediate);
    }
  }

  #schedule(lane: Lane): void {
    if (lane.isBusy || lane.isDue) return;
    lane.isDue = true;
    if (this.#due.push(lane) >= this.#groupsAtOnce) this.flush();
    else this.#scheduleFlush();
  }

  /** Once a turn, also where something is sent before it is over. */
  #scheduleFlush(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Behind all that this turn of the event loop still asks. A tick is over with each of the connections that are read
    // in it, so that requests to a server, which come on a connection each, would all go alone.
    setImmediate(this.#onTurnEnd);
  }

  #addTo(calls: Map<string, Call>, part: CallPart): void {
    const { callName } = part.lane.group;
    const call = calls.get(callName);
    if (call !== undefined && call.parts.length < this.#groupsPerCall) {
      call.parts.push(part);
      return;
    }
    if (call !== undefined) this.#send(call);
    calls.set(callName, new Call(part, this.#nextSequence()));
  }

  /** What is given back that was lost with the same connection comes before it, as it did. */
  #sendAgain(call: Call): void {
    for (const { lane } of call.parts) this.#returns.sendBefore(lane.group);
    this.#send(call);
  }

  #send(call: Call): void {
    const { group } = call.parts[0]!.lane;
    if (call.sent++ === 0) arrange(call);
    call.behind = this.#returns.before(group);
    const { hasServerTime, channels, serverClock, recordPrefix, timeArgument } = this.#store;
    const time = hasServerTime ? serverClock.textAt(deadlineOf(call)) : `-${timeArgument}`;
    call.keys = keysOf(call);
    call.args = argumentsOf(call, { time, process: recordPrefix, channels });
    call.sentMs = performance.now();
    for (const { lane } of call.parts) lane.sentMs = call.sentMs;
    call.missesBefore = this.#store.connection.sentScripts.misses;
    group.script.send(this.#store.connection, call, this);
  }

  onReply(call: Call, reply: unknown): void {
    this.#store.health.decided();
    const numbers = numbersIn(reply);
    if (numbers === null) return this.#fail(call);
    const reader = new AnswerReader(numbers);
    this.#store.serverClock.learn(call.sentMs, reader.nowUs);
    const { parts, behind, missesBefore } = call;
    // By the next tick it is known what was answered with it. In a cluster there is one part only.
    if (behind !== null)
      return process.nextTick(() => this.#answerBehind(parts[0]!, reader, untilHeard(behind, reader.nowUs)));
    // What the server missed is on its way again already: whoever asks again is behind it.
    const isEarly = this.#store.connection.sentScripts.misses !== missesBefore;
    for (const { lane, requests } of parts) {
      lane.answer(requests, reader, isEarly && lane.group.hasConcurrency);
      this.#goOn(lane);
    }
  }

  /** A refusal that has overtaken what was given back before is none: once that is heard, it is asked again. */
  #answerBehind({ lane, requests }: CallPart, reader: AnswerReader, heard: Promise<unknown> | null): void {
    lane.answer(requests, reader, heard !== null);
    if (heard === null) this.#goOn(lane);
    else void settledWithin(heard, lane.group.timeoutMs).then(() => this.#goOn(lane));
  }

  onError(call: Call, error: unknown): void {
    const { parts, sequence, sent } = call;
    if (isServerError(error)) {
      // Which group the server stumbled over isn't known. What was decided already is known by its record.
      if (parts.length > 1) {
        for (const part of parts) this.#send(new Call(part, sequence));
        return;
      }
      this.#store.health.refused(error);
    } else if (sent < MOST_ATTEMPTS) {
      // The record of the call sees to it that it counts once.
      this.#interrupted.push(call);
      return this.#scheduleFlush();
    }
    this.#fail(call);
  }

  #fail({ parts }: Call): void {
    for (const { lane, requests } of parts) {
      for (const request of requests) request.fail();
      this.#goOn(lane);
    }
  }

  async #sendGivingBack(lane: Lane): Promise<void> {
    lane.beginCall();
    const { group } = lane;
    const call = lane.takeGivingBack(() => this.#nextSequence());
    const args = [this.#store.timeArgument, this.#store.recordPrefix + group.recordSuffix, call.sequence];
    args.push(...group.rateNumbers);
    for (const { grant } of call.grants) args.push(...grant);
    call.sent++;
    try {
      await this.#store.run(group.givingBackScript!, [group.partitionKey], args);
    } catch (error) {
      if (!isServerError(error) && call.sent < MOST_ATTEMPTS) lane.interrupted = call;
      // Else they come back with time.
    }
    if (lane.interrupted === null) for (const { done } of call.grants) done();
    this.#goOn(lane);
  }

  #nextSequence(): string {
    // In decimals, which the engine writes quickest.
    return String(++this.#lastSequence);
  }

  #goOn(lane: Lane): void {
    lane.isBusy = false;
    if (lane.isIdle) lane.tellIfIdle();
    else this.#schedule(lane);
  }
}
