import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { systemClock } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import type { Settings } from '../module/settings.js';
import { SETTINGS } from '../module/tokens.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';
import { Warnings } from '../warnings/warnings.js';
import { hasSubscribers } from './events.js';
import { Telemetry } from './instruments.js';
import { Observation } from './observation.js';
import { RejectionLog } from './rejection-log.js';

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
  readonly #warnings = new Warnings();
  readonly #log: RejectionLog;

  constructor(@Inject(SETTINGS) settings: Settings) {
    this.#clock = settings.clock ?? systemClock;
    this.#log = new RejectionLog(this.#clock, settings.logKeys === 'hashed');
  }

  /** To be called once, before the first request. */
  load(): Promise<void> {
    return this.#telemetry.load();
  }

  /** Begins to follow an acquisition; `undefined` where nobody watches, and nothing need be noted. */
  observe({ set, permits, endpoint, context }: Acquired): Observation | undefined {
    const { instruments } = this.#telemetry;
    if (instruments === undefined && !hasSubscribers()) return undefined;
    const policies = set.policies.map(({ name }) => name);
    const own = set.policies.filter((policy) => !set.isGlobal(policy)).map(({ name }) => name);
    const label = own.length === 0 ? undefined : own.join();
    return new Observation({ policies, permits, endpoint, context, label }, instruments, this.#clock);
  }

  /** Notes that a policy in shadow mode failed, once for each. */
  logFailure(policyName: string, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    this.#warnings.once(`Policy ${JSON.stringify(policyName)}, in shadow mode, failed: ${problem}`);
  }

  /** Notes a refusal in the log. */
  log(policy: CompiledPolicy, reason: string, context: HandlingContext): void {
    this.#log.note(policy, reason, () => context.chosenPartition(policy.index)?.partitionKey);
  }
}
