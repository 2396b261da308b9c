import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { RedisConnection } from '../clients/redis-connection.js';
import { channelPrefix } from '../keys/state-keys.js';
import type { Script } from '../scripts/script.js';
import { isServerError } from '../scripts/server-error.js';
import type { DecisionRequest, Granted } from './decision-request.js';
import { Deadlines } from './deadlines.js';
import { Dispatcher } from './dispatcher.js';
import { Health } from './health.js';
import type { LimiterGroup } from './limiter-group.js';
import { numbersIn } from './read-answers.js';
import type { Returning } from './returns.js';
import { Returns } from './returns.js';
import { ServerClock } from './server-clock.js';

/** Of the time of a command, what the store must have had for it to be taken for lost. */
const SHARE_OF_STORE = 0.5;

/** What a store is made of. */
export interface StoreSettings {
  readonly connection: RedisConnection;
  readonly prefix: string;
  /** The most groups in one call: 1 on a cluster, where their keys lie in different slots. */
  readonly groupsPerCall: number;
  /** The server's time in µs, for tests. */
  readonly now?: (() => number) | undefined;
}

/** The server as the limiters see it: asked with a deadline, known to be there or not. */
export class Store {
  readonly connection: RedisConnection;
  readonly prefix: string;
  /** The name of this process: what its ids and its channel begin with. */
  readonly process = randomBytes(6).toString('base64url').replaceAll(/[-_]/g, 'x');
  /** What the records of this process begin with. */
  readonly recordPrefix = `#${this.process}.`;
  readonly channels: string;
  readonly health: Health;
  readonly serverClock: ServerClock;
  readonly deadlines: Deadlines;
  readonly returns = new Returns();
  readonly #settings: StoreSettings;
  readonly #dispatcher: Dispatcher;
  readonly #context = new AsyncResource('ratelease:store');
  #lastId = 0;
  #generation = 0;

  constructor(settings: StoreSettings) {
    this.#settings = settings;
    this.connection = settings.connection;
    this.serverClock = new ServerClock(settings.connection.isCluster);
    this.prefix = settings.prefix;
    this.channels = channelPrefix(settings.prefix);
    const outside = (start: () => void): void => this.runOutside(start);
    this.health = new Health(settings.connection, settings.prefix, outside);
    this.deadlines = new Deadlines(outside);
    this.#dispatcher = new Dispatcher(this, settings.groupsPerCall);
    settings.connection.onReady(() => {
      this.#generation++;
      settings.connection.sentScripts.forgetAll();
      this.#dispatcher.resume();
    });
    this.health.onChange((isAvailable) => {
      this.#generation++;
      if (!isAvailable) this.#dispatcher.failPending();
    });
  }

  /** The first argument of every script. */
  get timeArgument(): string {
    const { now } = this.#settings;
    return now === undefined ? '-1' : String(now());
  }

  /** Another number after everything by which this process knows that permits may have come back before their time. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether deadlines can be told to the server: not where a test makes its time. */
  get hasServerTime(): boolean {
    return this.#settings.now === undefined;
  }

  /** An id that no other lease or wait has, on no process. */
  nextId(): string {
    return `${this.process}.${(++this.#lastId).toString(36)}`;
  }

  /** Runs what starts a timer in the context of nobody's request, which would live as long as the timer. */
  runOutside(start: () => void): void {
    this.#context.runInAsyncScope(start);
  }

  /** Puts a request to the limiters of its group. It is always answered: no answer is an answer too. */
  ask(request: DecisionRequest): void {
    if (!this.health.isAvailable) return request.fail();
    request.watching = request.goesOn
      ? this.deadlines.watchRest(request)
      : this.deadlines.watch(request, request.group.timeoutMs);
    this.#dispatcher.ask(request);
  }

  /**
   * A request had no answer in time. Where the process stood still before it was sent, the store was not asked, or had no
   * time to answer: that tells nothing of it.
   */
  timedOut({ isSent, isUnderway, sinceMs, group }: DecisionRequest): void {
    const isYetToGo = !isSent && group.lane?.isDue === true && this.connection.isReady;
    const isJustSent =
      isUnderway && performance.now() - group.lane!.sentMs < SHARE_OF_STORE * group.timeoutMs;
    if (!isYetToGo && !isJustSent) this.health.timedOut(sinceMs);
  }

  /**
   * Gives back what a group's rates have granted, in the background: without a store once it is back. Resolves when that
   * is done, never rejects.
   */
  giveBack(group: LimiterGroup, permits: number, answer: Granted): Promise<void> {
    return this.#giveBack(group, group.grantOf(permits, answer));
  }

  /** The same of what was reserved, and granted to nobody. */
  giveBackReserved(group: LimiterGroup, permits: number, answer: Granted): Promise<void> {
    return this.#giveBack(group, group.grantOf(permits, answer, true));
  }

  /** See {@link Dispatcher.giveBackLeases}. */
  giveBackLeases(returning: Returning, isSoon: boolean): void {
    this.#dispatcher.giveBackLeases(returning, isSoon);
  }

  /** Runs a script that decides nothing, and replies with numbers; rejects like the client does. */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<readonly number[]> {
    try {
      const numbers = numbersIn(await script.run(this.connection, keys, args));
      // A server that is full takes back and renews, and refuses to decide.
      this.health.replied();
      if (numbers === null) throw new Error('The reply is no list of numbers.');
      return numbers;
    } catch (error) {
      if (isServerError(error)) this.health.refused(error);
      throw error;
    }
  }

  /** Resolves when all that was asked and given back is through, or can't be; see {@link Dispatcher.drain}. */
  async drain(): Promise<void> {
    if (this.health.isAvailable) await this.#dispatcher.drain();
  }

  #giveBack(group: LimiterGroup, grant: readonly string[]): Promise<void> {
    this.#generation++;
    return this.#dispatcher.giveBack(group, grant);
  }

  end(): void {
    this.health.end();
    this.#dispatcher.end();
    this.connection.detach();
  }
}
