import { concurrencyKeys } from '../keys/state-keys.js';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import type { Script } from '../scripts/script.js';
import { decisionScript, givingBackScript } from '../scripts/script.js';
import type { Granted } from './decision-request.js';
import type { Lane } from './lane.js';

/** Limiters of one partition that decide together, and what the scripts have to be told of them. */
export class LimiterGroup {
  readonly partitionKey: string;
  readonly definitions: readonly LimiterDefinition[];
  /** Names the group: those of one name share what is in flight. */
  readonly name: string;
  readonly keys: readonly string[];
  /** The names and the numbers of the limiters. */
  readonly numbers: readonly string[];
  /** The arguments of a call with one plain request of the group alone, with room for those that differ. */
  readonly plainArguments: readonly string[];
  readonly script: Script;
  /** Groups of one such name go in one call: they differ in their partition alone. */
  readonly callName: string;
  /** Tells the records of a process in one partition apart. */
  readonly recordSuffix: string;
  readonly hasConcurrency: boolean;
  /** Those of concurrency. */
  readonly concurrency: readonly LimiterDefinition[];
  /** Whether requests can wait on the server. */
  readonly hasServerQueue: boolean;
  /** Its way to the store, kept from one request to the next. */
  lane: Lane | undefined = undefined;
  /** How long an answer is waited for. */
  readonly timeoutMs: number;
  /** How long a refusal of the group is remembered at most; 0: not. */
  readonly refusalCacheMs: number;
  /** How many permits this process may reserve of the group; 0: none. */
  readonly reserveAhead: number;
  /** Over how many processes a limit is divided. */
  readonly instances: number;
  /** Whether requests wait in this process in order, so that they must not overtake each other on the way. */
  readonly isInOrder: boolean;

  constructor(partitionKey: string, definitions: readonly LimiterDefinition[]) {
    this.partitionKey = partitionKey;
    this.definitions = definitions;
    const algorithms = definitions.map(({ algorithm }) => algorithm);
    this.concurrency = definitions.filter((definition) => !isRate(definition));
    this.hasConcurrency = this.concurrency.length > 0;
    this.hasServerQueue = definitions.some(waitsOnServer);
    this.keys = [partitionKey, ...definitions.flatMap((definition) => extraKeysOf(partitionKey, definition))];
    this.numbers = definitions.flatMap(({ name, numbers }) => [name, ...numbers]);
    this.plainArguments = ['', '', '', ...this.numbers, ''];
    this.callName = this.numbers.join(' ');
    this.name = `${partitionKey} ${this.callName}`;
    this.recordSuffix = shortHash(this.callName);
    this.script = decisionScript(algorithms);
    this.timeoutMs = Math.min(...definitions.map(({ commandTimeoutMs }) => commandTimeoutMs));
    this.refusalCacheMs = Math.min(...definitions.map(({ refusalCacheMs }) => refusalCacheMs));
    this.reserveAhead = Math.min(...definitions.map(({ reserveAhead }) => reserveAhead));
    this.instances = Math.max(...definitions.map(({ instances }) => instances));
    this.isInOrder = definitions.some(waitsHere);
  }

  /** The concurrency limiters with a queue, in the order in which permits of several are kept: everywhere the same. */
  get inOrderOfNames(): LimiterDefinition[] {
    return this.definitions.filter(waitsOnServer).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** The script that gives rates back; `null` where there is no rate. */
  get givingBackScript(): Script | null {
    const rates = this.definitions.filter(isRate).map(({ algorithm }) => algorithm);
    return rates.length === 0 ? null : givingBackScript(rates);
  }

  /** The arguments with which that script begins: the rates, with their numbers. */
  get rateNumbers(): string[] {
    return this.definitions.filter(isRate).flatMap(({ name, numbers }) => [name, ...numbers]);
  }

  /**
   * A grant as that script is told of it.
   * @param isReserved - nobody was granted it. A bucket gets all of it back, whatever time has brought back meanwhile: what
   *   time paid for a reserve it did not pay for what others spent behind it, so that they would be refused for nothing.
   *   That grants no more than what processes hold.
   */
  grantOf(permits: number, { nowUs, standing }: Granted, isReserved = false): string[] {
    const told = [String(permits), isReserved ? `-${nowUs}` : String(nowUs)];
    this.definitions.forEach((definition, index) => {
      if (!isRate(definition)) return;
      const { remaining, resetUs } = standing[index]!;
      told.push(String(nowUs + resetUs), String(definition.limit - remaining));
    });
    return told;
  }
}

function isRate({ algorithm }: LimiterDefinition): boolean {
  return algorithm !== 'concurrency';
}

function extraKeysOf(partitionKey: string, { algorithm, name }: LimiterDefinition): string[] {
  return algorithm === 'concurrency' ? concurrencyKeys(partitionKey, name) : [];
}

function waitsOnServer({ algorithm, queueLimit }: LimiterDefinition): boolean {
  return algorithm === 'concurrency' && queueLimit > 0;
}

function waitsHere({ algorithm, queueLimit, isNewestFirst }: LimiterDefinition): boolean {
  return algorithm !== 'concurrency' && queueLimit > 0 && !isNewestFirst;
}

/** Tells the groups of a partition apart; two that share it only lose the protection against commands sent twice. */
function shortHash(text: string): string {
  let hash = 0;
  for (let index = 0; index < text.length; index++) hash = (hash * 31 + text.charCodeAt(index)) | 0;
  return (hash >>> 0).toString(36);
}
