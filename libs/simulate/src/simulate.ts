import { shown } from './errors/shown.js';
import { SimulationError } from './errors/simulation-error.js';
import type { Policies } from './policies/checked-policy.js';
import { readPolicies } from './policies/checked-policy.js';
import { PolicyReplay } from './replay/policy-replay.js';
import { readSettings } from './replay/replay-settings.js';
import type { SimulationReport } from './report/simulation-report.js';
import type { SimulationOptions } from './simulation-options.js';
import { ReplayOrder } from './trace/replay-order.js';
import type { TraceEntry } from './trace/trace-entry.js';
import { placeOf } from './trace/trace-entry.js';

/** What requests are replayed from. */
export type Trace = Iterable<TraceEntry> | AsyncIterable<TraceEntry>;

/**
 * Replays requests against policies, on a clock that goes from request to request: what would have been granted,
 * queued and refused. The real limiters decide, each policy for itself, as if it alone had been there.
 *
 * @param policies - a policy, or policies by name; an array is a chain, whose members have to grant together.
 * @param trace - the requests, in the order of their time or nearly so.
 * @returns a report for each policy. Memory grows with the number of keys, not with that of the requests.
 * @throws SimulationError - for a policy, an option or an entry that can't be used; whatever the trace throws.
 */
export async function simulate(
  policies: Policies,
  trace: Trace,
  options: SimulationOptions = {},
): Promise<SimulationReport> {
  const settings = readSettings(options);
  const replay = new Replay(
    readPolicies(policies).map((policy) => new PolicyReplay(policy, settings)),
    new ReplayOrder(settings),
  );
  if (isAsync(trace)) {
    for await (const entry of trace) {
      const pending = replay.push(entry);
      if (pending !== undefined) await pending;
    }
  } else if (isSync(trace)) {
    for (const entry of trace) {
      const pending = replay.push(entry);
      // oxlint-disable-next-line no-await-in-loop -- one after the other is what a replay is
      if (pending !== undefined) await pending;
    }
  } else
    throw new SimulationError('ERR_RL_INVALID_TRACE', `The trace must be iterable, but got ${shown(trace)}.`);
  return replay.finish();
}

function isAsync(trace: Trace): trace is AsyncIterable<TraceEntry> {
  return typeof (trace as Partial<AsyncIterable<TraceEntry>>)?.[Symbol.asyncIterator] === 'function';
}

function isSync(trace: Trace): trace is Iterable<TraceEntry> {
  return typeof trace === 'object' && trace !== null && Symbol.iterator in trace;
}

/** All policies and the order in which requests come to them. */
class Replay {
  readonly #policies: readonly PolicyReplay[];
  readonly #order: ReplayOrder;
  #fromMs: number | null = null;
  #toMs: number | null = null;

  constructor(policies: readonly PolicyReplay[], order: ReplayOrder) {
    this.#policies = policies;
    this.#order = order;
  }

  push(entry: TraceEntry): Promise<void> | undefined {
    checkEntry(entry, this.#order.count + 1);
    return this.#offer(this.#order.push(entry), 0);
  }

  async finish(): Promise<SimulationReport> {
    await this.#offer(this.#order.rest(), 0);
    const policies = [];
    // oxlint-disable-next-line no-await-in-loop -- each has its own time
    for (const policy of this.#policies) policies.push(await policy.finish());
    const { count: entries, late } = this.#order;
    return { entries, fromMs: this.#fromMs, toMs: this.#toMs, late, policies };
  }

  /** Synchronous as long as nobody waits: a promise for each request would cost more than its decision. */
  #offer(entries: readonly TraceEntry[], from: number): Promise<void> | undefined {
    for (let index = from; index < entries.length; index++) {
      const entry = entries[index]!;
      this.#fromMs ??= entry.timeMs;
      this.#toMs = entry.timeMs;
      const pending = this.#policies.map((policy) => policy.offer(entry)).filter((one) => one !== undefined);
      if (pending.length > 0) return Promise.all(pending).then(() => this.#offer(entries, index + 1));
    }
    return undefined;
  }
}

function checkEntry(entry: TraceEntry, number: number): void {
  if (typeof entry !== 'object' || entry === null) throw invalid(`Entry ${number} is ${shown(entry)}`);
  const { timeMs, durationMs } = entry;
  if (!Number.isFinite(timeMs))
    throw invalid(`At ${placeOf(entry, number)}: timeMs must be a finite number, but got ${shown(timeMs)}`);
  if (durationMs !== undefined && !(Number.isFinite(durationMs) && durationMs >= 0))
    throw invalid(
      `At ${placeOf(entry, number)}: durationMs must be a finite number of at least 0, but got ${shown(durationMs)}`,
    );
}

function invalid(what: string): SimulationError {
  return new SimulationError('ERR_RL_INVALID_TRACE', `${what}. Leave out what can't be used.`);
}
