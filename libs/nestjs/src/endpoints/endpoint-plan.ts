import type { RejectionMessage } from '../decorators/concurrency-limit.js';
import type { EndpointOptions } from '../decorators/enable-rate-limiting.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';

/** The acquisitions of a plan: before routing, before later guards, after them, with the handler's arguments, by them. */
export type Phase = 'middleware' | 'guard' | 'interceptor' | 'args' | 'condition';

/** What is taken at one go for a request. */
export interface Acquisition {
  readonly endpoint: string;
  /** `null` where all policies are in shadow mode. */
  readonly set: PolicySet | null;
  /** The policies in shadow mode, each by itself. */
  readonly shadows: readonly PolicySet[];
  /** What remains when `when` says no: the global limiter, or nothing. */
  readonly otherwise: PolicySet | null;
  /** The endpoint's policies, where another phase asks them: what the global limiter refuses is theirs to answer, too. */
  readonly elsewhere: readonly CompiledPolicy[];
  readonly permitCount: NonNullable<EndpointOptions['permitCount']>;
  readonly when: EndpointOptions['when'];
  readonly maxWaitMs: number | undefined;
  /** What a refused client is told. */
  readonly message?: RejectionMessage | undefined;
}

/** What applies to an endpoint, by phase; made once per endpoint. */
export interface EndpointPlan {
  /** The method as it was written, where a wrapper stands in its place. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly handler: Function;
  readonly middleware: Acquisition | null;
  readonly guard: Acquisition | null;
  readonly interceptor: Acquisition | null;
  readonly args: Acquisition | null;
  /** A concurrency limit by the handler's arguments, on top of the policies. */
  readonly condition: Acquisition | null;
  /** Whether a request must be followed to its end: it may wait, or hold permits. */
  readonly isFollowed: boolean;
  /** Whether permits go back when the handler has ended, whatever becomes of the response. */
  readonly isHeldByHandler: boolean;
  /** The only phase, where it can be over with the decision: nothing is held, and nothing follows. */
  readonly briefPhase: 'guard' | 'interceptor' | null;
  /** Whether the handler may send the response itself, past the framework. */
  readonly mayRespondItself: boolean;
}
