import { HttpStatus } from '@nestjs/common';
import type { RateLimitLease } from '@ratelease/limiters';
import { MetadataName, retryAfterOfAll } from '@ratelease/limiters';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import type { Decision, Holder } from '../holding/holder.js';
import { rateLimitFields } from '../http/rate-limit-fields.js';
import { acceptsProblem } from '../http/problem-details.js';
import { writeProblemType, writeStyled } from '../http/refusal-style.js';
import { writeRateLimit, writeRefusal } from '../http/response-fields.js';
import type { Settings } from '../module/settings.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';
import type { Observation } from '../visibility/observation.js';
import type { Visibility } from '../visibility/visibility.js';
import type { OnRejected } from './on-rejected.js';
import { RateLimitRejectedException } from './rate-limit-rejected.exception.js';
import type { Rejection } from './rate-limit-rejected.exception.js';
import { runOnRejected } from './run-on-rejected.js';

/** The reason phrase of a lease that was refused because its store can't be reached. */
const STORE_UNAVAILABLE = 'STORE_UNAVAILABLE';

/** A refusal, with all that belongs to it. */
export interface Refusal {
  readonly acquisition: Acquisition;
  readonly set: PolicySet;
  readonly lease: RateLimitLease;
  /** Where somebody watches. */
  readonly observation?: Observation | undefined;
}

/** Answers refused requests. */
export class Refusals {
  readonly #settings: Settings;
  readonly #visibility: Visibility;

  constructor(settings: Settings, visibility: Visibility) {
    this.#settings = settings;
    this.#visibility = visibility;
  }

  /**
   * Throws the answer of a refusal, after the application had its say.
   *
   * @returns `false` when the application's callback has sent the response itself.
   */
  answer(refusal: Refusal, holder: Holder): Decision {
    const { set, lease } = refusal;
    const policy = set.refusingPolicy(lease);
    const rejection = withoutStack({
      ...this.#rejection(set, policy, lease),
      ...messageOf(refusal, holder),
    });
    refusal.observation?.refused(rejection, false);
    this.#visibility.log(policy, rejection.reason, holder.context);
    if (holder.context.type === 'http') this.#write(refusal, rejection, holder);
    const callback = this.#callback(refusal, policy);
    const isProblem = holder.context.type === 'http' && this.#wantsProblem(holder);
    if (isProblem) rejection.answerAsProblem(policy.showsQuota ? policy.name : undefined);
    if (callback !== undefined) return throwUnlessAnswered(callback, { rejection, isProblem }, holder);
    if (isProblem) writeProblemType(holder.context.response);
    throw rejection;
  }

  #wantsProblem({ context }: Holder): boolean {
    return this.#settings.problemDetails || acceptsProblem(context.request);
  }

  #write({ set, lease }: Refusal, { retryAfterMs }: RateLimitRejectedException, holder: Holder): void {
    const { retryAfterJitter, legacyHeaders, exposeHeaders } = this.#settings;
    const fields = rateLimitFields(set, lease);
    if (fields !== undefined) writeRateLimit(holder, fields);
    if (legacyHeaders || exposeHeaders) writeStyled(holder.context, this.#settings, { set, lease });
    const spread =
      retryAfterMs === undefined ? undefined : retryAfterMs * (1 + Math.random() * retryAfterJitter);
    writeRefusal(holder.context.response, { retryAfterMs: spread, closesConnection: false });
  }

  /** Whether the application has its say on a refusal, which may take time. */
  hasCallback(refusal: Refusal): boolean {
    return this.#callback(refusal, refusal.set.refusingPolicy(refusal.lease)) !== undefined;
  }

  /** Throws the answer to a request that can't be served because the application ends. */
  answerShutdown(set: PolicySet, lease: RateLimitLease, holder: Holder): never {
    if (holder.context.type === 'http') {
      writeRefusal(holder.context.response, { retryAfterMs: undefined, closesConnection: true });
    }
    const policyName = set.refusingPolicy(lease).name;
    const status = HttpStatus.SERVICE_UNAVAILABLE;
    const message = 'The server is shutting down.';
    throw withoutStack({
      lease,
      policyName,
      reason: 'shutdown',
      retryAfterMs: undefined,
      status,
      message,
    });
  }

  #rejection(set: PolicySet, policy: CompiledPolicy, lease: RateLimitLease): Rejection {
    const retryAfterMs = retryAfterOfAll(lease) ?? lease.getMetadata(MetadataName.retryAfter);
    const common = { lease, policyName: policy.name, retryAfterMs };
    if (lease.getMetadata(MetadataName.reasonPhrase) === STORE_UNAVAILABLE) {
      const message = 'The service is temporarily unavailable.';
      return { ...common, reason: 'store', status: HttpStatus.SERVICE_UNAVAILABLE, message };
    }
    const reason = set.isGlobal(policy) ? 'global' : 'endpoint';
    return {
      ...common,
      reason,
      status: policy.rejectionStatusCode ?? this.#settings.rejectionStatusCode,
      message: 'Too many requests.',
    };
  }

  /** The policy's, if it has one, whichever limiter refused; else the module's. */
  #callback({ acquisition, set }: Refusal, policy: CompiledPolicy): OnRejected | undefined {
    if (!set.isGlobal(policy)) return policy.onRejected ?? this.#settings.onRejected;
    const ofEndpoint = acquisition.set?.policies.find(
      (other) => !set.isGlobal(other) && other.onRejected !== undefined,
    );
    return ofEndpoint?.onRejected ?? policy.onRejected ?? this.#settings.onRejected;
  }
}

async function throwUnlessAnswered(
  callback: OnRejected,
  { rejection, isProblem }: { readonly rejection: RateLimitRejectedException; readonly isProblem: boolean },
  { context }: Holder,
): Promise<false> {
  if (!(await runOnRejected(callback, rejection, context))) return false;
  if (isProblem) writeProblemType(context.response);
  throw rejection;
}

/** Refusals are no faults: where they were made is always here, and writing it down costs more than all the rest. */
function withoutStack(rejection: Rejection): RateLimitRejectedException {
  if (Object.isFrozen(Error)) return new RateLimitRejectedException(rejection);
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return new RateLimitRejectedException(rejection);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** What the endpoint has its refused clients told. */
function messageOf({ acquisition: { message } }: Refusal, { context }: Holder): { message?: string } {
  if (message === undefined) return {};
  return { message: typeof message === 'function' ? message(context) : message };
}
