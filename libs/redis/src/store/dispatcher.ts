import { argumentsOf, deadlineOf, keysOf } from './call.js';
import type { CallPart } from './call.js';
import type { DecisionRequest } from './decision-request.js';
import { Lane } from './lane.js';
import type { GivingBack, LimiterGroup } from './limiter-group.js';
import { AnswerReader } from './read-answers.js';
import type { Store } from './store.js';

/** Sends the decisions of one turn of the event loop: those of a group in one call, several groups in one where that goes. */
export class Dispatcher {
  readonly #store: Store;
  readonly #groupsPerCall: number;
  readonly #lanes = new Map<string, Lane>();
  #due: Lane[] = [];
  #isScheduled = false;
  #lastSequence = 0;

  constructor(store: Store, groupsPerCall: number) {
    this.#store = store;
    this.#groupsPerCall = groupsPerCall;
  }

  send(request: DecisionRequest): void {
    const lane = this.#laneOf(request.group);
    lane.add(request);
    this.#schedule(lane);
  }

  giveBack(group: LimiterGroup, permits: number, ends: readonly number[]): void {
    const givingBack = group.givingBack(permits, ends);
    if (givingBack === null) return;
    const lane = this.#laneOf(group);
    lane.givingBack.push(givingBack);
    this.#schedule(lane);
  }

  /** Sends what is due. Without a connection it stays: the connection comes, or the requests' time is over. */
  flush(): void {
    this.#isScheduled = false;
    if (!this.#store.connection.isReady) return this.#store.connection.wake();
    const due = this.#due;
    this.#due = [];
    const calls = new Map<string, CallPart[]>();
    for (const lane of due) {
      lane.isDue = false;
      if (lane.isBusy) continue;
      const givingBack = lane.givingBack.shift();
      if (givingBack !== undefined) void this.#sendGivingBack(lane, givingBack);
      else this.#addTo(calls, lane);
    }
    for (const parts of calls.values()) void this.#call(parts);
  }

  /** The store is lost, or this is the end: nobody waits for a connection any more. */
  failPending(): void {
    for (const [name, lane] of this.#lanes) {
      for (const request of lane.takeAll()) request.fail();
      lane.givingBack.length = 0;
      if (lane.isIdle) this.#lanes.delete(name);
    }
  }

  #laneOf(group: LimiterGroup): Lane {
    let lane = this.#lanes.get(group.name);
    if (lane === undefined) {
      lane = new Lane(group, `#${this.#store.process}.${shortHash(group.numbers)}`);
      this.#lanes.set(group.name, lane);
    }
    return lane;
  }

  #schedule(lane: Lane): void {
    if (lane.isBusy || lane.isDue) return;
    lane.isDue = true;
    this.#due.push(lane);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // Behind everything that this turn of the event loop still asks, whether it does so at once or after awaits.
    queueMicrotask(() => process.nextTick(() => this.flush()));
  }

  #addTo(calls: Map<string, CallPart[]>, lane: Lane): void {
    const requests = lane.takeNext();
    if (requests.length === 0) return this.#tidy(lane);
    const { sha } = lane.group.script;
    const part = { lane, sequence: (++this.#lastSequence).toString(36), requests };
    const parts = calls.get(sha);
    lane.isBusy = true;
    if (parts === undefined) {
      calls.set(sha, [part]);
    } else if (parts.length < this.#groupsPerCall) {
      parts.push(part);
    } else {
      calls.set(sha, [part]);
      void this.#call(parts);
    }
  }

  async #call(parts: readonly CallPart[]): Promise<void> {
    const { script } = parts[0]!.lane.group;
    const { hasServerTime, timeArgument, channels, serverClock } = this.#store;
    const deadline = hasServerTime ? String(serverClock.at(deadlineOf(parts))) : '0';
    const args = argumentsOf(parts, [timeArgument, deadline, channels]);
    const sentMs = performance.now();
    try {
      const reader = new AnswerReader(await this.#store.run(script, keysOf(parts), args));
      serverClock.learn(sentMs, reader.nowUs);
      for (const part of parts) this.#answer(part, reader);
    } catch (error) {
      // Which group the server stumbled over isn't known. What was decided already is known by its record.
      if (parts.length > 1 && isServerError(error)) {
        await Promise.all(parts.map((part) => this.#call([part])));
        return;
      }
      if (isServerError(error)) this.#store.health.replied();
      for (const { requests } of parts) for (const request of requests) request.fail();
    }
    for (const { lane } of parts) this.#goOn(lane);
  }

  #answer({ lane, requests }: CallPart, reader: AnswerReader): void {
    if (reader.isTooLate) return lane.putBack(requests);
    for (const request of requests) request.answer(reader.next(request));
  }

  async #sendGivingBack(lane: Lane, { script, permits, numbers }: GivingBack): Promise<void> {
    lane.isBusy = true;
    const sequence = (++this.#lastSequence).toString(36);
    const args = [this.#store.timeArgument, permits, lane.recordField, sequence, ...numbers];
    try {
      await this.#store.run(script, [lane.group.partitionKey], args);
    } catch {
      // Permits that can't be given back come back with time.
    }
    this.#goOn(lane);
  }

  #goOn(lane: Lane): void {
    lane.isBusy = false;
    if (lane.isIdle) this.#lanes.delete(lane.group.name);
    else this.#schedule(lane);
  }

  #tidy(lane: Lane): void {
    if (lane.isIdle) this.#lanes.delete(lane.group.name);
  }
}

/** An error that the server answered with: it begins with a word in capitals. */
function isServerError(error: unknown): boolean {
  return error instanceof Error && /^[A-Z]{2,} /.test(error.message);
}

/** Tells the groups of a partition apart; two that share it only lose the protection against commands sent twice. */
function shortHash(texts: readonly string[]): string {
  let hash = 0;
  for (const text of texts)
    for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) | 0;
  return (hash >>> 0).toString(36);
}
