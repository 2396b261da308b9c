import type { Clock } from '@ratelease/limiters';
import type { KeyDisplay } from '../recording/key-display.js';
import { displayOf } from '../recording/key-display.js';
import type { SecondOfPolicy } from '../recording/policy-record.js';
import { HISTORY_SECONDS } from '../recording/policy-record.js';
import type { RecordedPolicy, Recorder } from '../recording/recorder.js';
import type { PolicyOverview } from '@ratelease/nestjs';
import type { KeySnapshot, LeaseSnapshot, PolicySnapshot, SecondRow, Snapshot } from './snapshot.js';

const KEYS_PER_POLICY = 5;
const KEYS_SHOWN = 20;
const LEASES_SHOWN = 10;

/** Makes snapshots of what was recorded. */
export class Snapshots {
  readonly #recorder: Recorder;
  readonly #clock: Clock;
  readonly #showsKeys: boolean;
  readonly #display: (text: string) => string;

  constructor(recorder: Recorder, clock: Clock, keys: KeyDisplay) {
    this.#recorder = recorder;
    this.#clock = clock;
    this.#showsKeys = keys !== 'none';
    this.#display = displayOf(keys);
  }

  /** Everything that is remembered. */
  history(): Snapshot {
    return this.since(-Infinity);
  }

  /** The seconds after the given one that are over, as far as they are remembered. */
  since(second: number): Snapshot {
    const until = this.#recorder.second - 1;
    // A process that has just begun has no five minutes.
    const from = Math.max(0, second + 1, until - HISTORY_SECONDS + 2);
    const policies = this.#recorder.policies();
    return {
      from,
      until,
      policies: policies.map(({ overview, recorded }) => snapshotOf(overview, recorded, from, until)),
      keys: this.#showsKeys ? this.#keys(policies) : null,
      leases: this.#leases(),
    };
  }

  #keys(policies: ReturnType<Recorder['policies']>): KeySnapshot[] {
    const { second } = this.#recorder;
    return policies
      .flatMap(({ overview: { policy }, recorded: { keys } }) =>
        keys
          .top(second, KEYS_PER_POLICY)
          .map((counted) => ({ policy, ...counted, key: this.#display(counted.key) })),
      )
      .sort((one, other) => other.requests - one.requests)
      .slice(0, KEYS_SHOWN);
  }

  #leases(): LeaseSnapshot[] {
    const now = this.#clock.now();
    return this.#recorder.leases.eldest(LEASES_SHOWN).map(({ endpoint, holds, sinceMs }) => ({
      endpoint,
      policies: holds.map(({ policy }) => policy),
      keys: this.#showsKeys ? holds.map(({ key }) => (key === '' ? '' : this.#display(key))) : [],
      heldMs: Math.round(now - sinceMs),
    }));
  }
}

// oxlint-disable-next-line eslint/max-params -- two things, and between which seconds
function snapshotOf(
  overview: PolicyOverview,
  { record, isShadow }: RecordedPolicy,
  from: number,
  until: number,
): PolicySnapshot {
  return { ...overview, isShadow, seconds: record.read(from, until).map(rowOf) };
}

function rowOf({ granted, refused, waiting, inUse, waits }: SecondOfPolicy): SecondRow {
  return [granted, refused, waiting, inUse, round(waits.p50), round(waits.p95), round(waits.max)];
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10;
}
