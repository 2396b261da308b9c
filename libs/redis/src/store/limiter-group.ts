import { concurrencyKeys } from '../keys/state-keys.js';
import type { LimiterDefinition } from '../remote/limiter-definition.js';
import type { AlgorithmName } from '../scripts/compose-script.js';
import type { Script } from '../scripts/script.js';
import { decisionScript, givingBackScript } from '../scripts/script.js';
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
    this.hasConcurrency = algorithms.includes('concurrency');
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

  /** The script that gives rates back, and its arguments; `null` where there is no rate. */
  givingBack(permits: number, ends: readonly number[]): GivingBack | null {
    const rates: AlgorithmName[] = [];
    const numbers: string[] = [];
    this.definitions.forEach(({ algorithm, name, numbers: own }, index) => {
      if (algorithm === 'concurrency') return;
      rates.push(algorithm);
      numbers.push(name, ...own, String(ends[index]));
    });
    if (rates.length === 0) return null;
    return { script: givingBackScript(rates), permits: String(permits), numbers };
  }
}

/** A call that gives back, all but the record. */
export interface GivingBack {
  readonly script: Script;
  readonly permits: string;
  readonly numbers: readonly string[];
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
