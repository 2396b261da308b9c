import { Inject, Injectable } from '@nestjs/common';
import type { Clock, RateLimitLease } from '@ratelease/limiters';
import { MetadataName, systemClock } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import type { Settings } from '../module/settings.js';
import { SETTINGS } from '../module/tokens.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';
import type { FailedEvent } from './events.js';
import { CHANNELS, hasSubscribers } from './events.js';
import { Telemetry } from './instruments.js';
import { Observation } from './observation.js';
import { RejectionLog } from './rejection-log.js';
import { TroubleLog } from './trouble-log.js';

/** The reason phrase of a lease that was refused because its policy has as many keys as it may have. */
const PARTITION_LIMIT_REACHED = 'Partition limit reached';

/** What is asked, for those who watch. */
export interface Acquired {
  readonly set: PolicySet;
  readonly permits: number;
  readonly endpoint: string;
  readonly context: HandlingContext;
}

/** Shows what an application's limits do: on diagnostics channels, by OpenTelemetry, in its log. */
@Injectable()
export class Visibility {
  readonly #telemetry = new Telemetry();
  readonly #clock: Clock;
  readonly #log: RejectionLog;
  readonly #troubles: TroubleLog;

  constructor(@Inject(SETTINGS) settings: Settings) {
    this.#clock = settings.clock ?? systemClock;
    this.#log = new RejectionLog(this.#clock, settings.logKeys === 'hashed');
    this.#troubles = new TroubleLog(this.#clock);
  }

  /** To be called once, before the first request. */
  load(): Promise<void> {
    return this.#telemetry.load();
  }

  /** Whether anybody watches acquisitions. */
  get isWatched(): boolean {
    return this.#telemetry.instruments !== undefined || hasSubscribers();
  }

  /** Begins to follow an acquisition; `undefined` where nobody watches, and nothing need be noted. */
  observe({ set, permits, endpoint, context }: Acquired): Observation | undefined {
    const { instruments } = this.#telemetry;
    if (instruments === undefined && !hasSubscribers()) return undefined;
    const policies = set.policies.map(({ name }) => name);
    const own = set.endpointPolicies.map(({ name }) => name);
    const label = own.length === 0 ? undefined : own.join();
    return new Observation({ policies, permits, endpoint, context, label }, instruments, this.#clock);
  }

  /** A policy in shadow mode failed. */
  noteShadowFailure(policyName: string, error: unknown): void {
    this.#troubles.noteShadowFailure(policyName, error);
  }

  /** Limits failed, and a request was let through without them. */
  noteLetThrough(policies: readonly CompiledPolicy[], error: unknown, context: HandlingContext): void {
    const names = policies.map(({ name }) => name);
    for (const name of names) this.#troubles.noteLetThrough(name, error);
    const { failed } = CHANNELS;
    if (failed.hasSubscribers) failed.publish({ policies: names, error, context } satisfies FailedEvent);
  }

  /** Notes a refusal in the log. */
  log(policy: CompiledPolicy, reason: string, context: HandlingContext, lease: RateLimitLease): void {
    if (lease.getMetadata(MetadataName.reasonPhrase) === PARTITION_LIMIT_REACHED)
      this.#troubles.noteFull(policy.name, policy.maxPartitions);
    this.#log.note(policy, reason, () => context.chosenPartition(policy.index)?.partitionKey);
  }
}
