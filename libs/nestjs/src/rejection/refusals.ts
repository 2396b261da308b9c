import { HttpStatus } from '@nestjs/common';
import type { RateLimitLease } from '@ratelease/limiters';
import { MetadataName, retryAfterOfAll } from '@ratelease/limiters';
import type { HandlingContext } from '../context/handling-context.js';
import type { Acquisition } from '../endpoints/endpoint-plan.js';
import { endQuietly } from '../holding/end-quietly.js';
import type { Holder } from '../holding/holder.js';
import type { Verdict } from '../holding/verdict.js';
import { FailedDecision, isFailed } from '../holding/verdict.js';
import { rateLimitFields } from '../http/rate-limit-fields.js';
import { acceptsProblem } from '../http/problem-details.js';
import { writeProblemType, writeStyled } from '../http/refusal-style.js';
import { closeConnection, writeRateLimit, writeRefusal } from '../http/response-fields.js';
import type { Settings } from '../module/settings.js';
import type { CompiledPolicy } from '../policies/compiled-policy.js';
import type { PolicySet } from '../policies/policy-set.js';
import type { Observation } from '../visibility/observation.js';
import type { Visibility } from '../visibility/visibility.js';
import { endAfter } from './end-refused.js';
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
  /** The policy that refused. */
  readonly policy: CompiledPolicy;
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
   * The answer of a refusal, after the application had its say: the exception for its filters.
   *
   * @returns the promise of `false` when the application's callback has sent the response itself.
   */
  answer(refusal: Refusal, holder: Holder): Verdict {
    try {
      const verdict = this.#answer(refusal, holder);
      // A callback that takes its time keeps the lease until then.
      if (isFailed(verdict)) endQuietly(refusal.lease, refusal.set);
      return verdict;
    } catch (error) {
      endQuietly(refusal.lease, refusal.set);
      throw error;
    }
  }

  #answer(refusal: Refusal, holder: Holder): Verdict {
    const { policy } = refusal;
    const { context } = holder;
    const facts = factsOf(refusal);
    // Before anything of the application's is asked, which may fail: refused it is all the same.
    refusal.observation?.refused(facts, false);
    this.#visibility.log(policy, facts.reason, context, refusal.lease);
    const rejection = withoutStack(this.#rejection(refusal, facts, context));
    const isHttp = context.type === 'http';
    if (isHttp) this.#write(refusal, rejection, holder);
    const isProblem = isHttp && this.#wantsProblem(holder);
    if (isProblem) rejection.answerAsProblem(policy.showsQuota ? policy.name : undefined);
    const callback = this.#callback(refusal);
    if (callback !== undefined) {
      holder.follow();
      holder.refuse();
      const answered = (): Promise<false> => throwUnlessAnswered(callback, { rejection, isProblem }, holder);
      return endAfter(answered, refusal, context.signal);
    }
    if (isProblem) writeProblemType(context.response);
    return new FailedDecision(rejection);
  }

  #wantsProblem({ context }: Holder): boolean {
    return this.#settings.problemDetails || acceptsProblem(context.request);
  }

  #write({ set, lease }: Refusal, { retryAfterMs }: RateLimitRejectedException, holder: Holder): void {
    const { retryAfterJitter, legacyHeaders, exposeHeaders } = this.#settings;
    const fields = rateLimitFields(set, lease);
    if (fields !== undefined) writeRateLimit(holder, fields);
    if (legacyHeaders || exposeHeaders) writeStyled(holder.context, this.#settings, { set, lease });
    const isSpread = retryAfterMs !== undefined && retryAfterJitter > 0;
    const spread = isSpread ? retryAfterMs * (1 + Math.random() * retryAfterJitter) : retryAfterMs;
    writeRefusal(holder.context.response, spread);
  }

  /** Throws the answer to a request that can't be served because the application ends. */
  answerShutdown(set: PolicySet, lease: RateLimitLease, holder: Holder): never {
    if (holder.context.type === 'http') {
      writeRefusal(holder.context.response, undefined);
      closeConnection(holder.context.response);
    }
    const policyName = set.refusingPolicy(lease).name;
    const status = HttpStatus.SERVICE_UNAVAILABLE;
    const message = 'The server is shutting down.';
    endQuietly(lease, set);
    throw withoutStack({
      lease,
      policyName,
      reason: 'shutdown',
      retryAfterMs: undefined,
      status,
      message,
    });
  }

  #rejection({ acquisition, lease, policy }: Refusal, facts: Facts, context: HandlingContext): Rejection {
    const isAway = facts.reason === 'store';
    const ownStatus = policy.rejectionStatusCode ?? this.#settings.rejectionStatusCode;
    const ownMessage = isAway ? 'The service is temporarily unavailable.' : 'Too many requests.';
    const { message = ownMessage } = acquisition;
    return {
      lease,
      policyName: facts.policyName,
      retryAfterMs: facts.retryAfterMs,
      reason: facts.reason,
      status: isAway ? HttpStatus.SERVICE_UNAVAILABLE : ownStatus,
      message: typeof message === 'function' ? message(context) : message,
    };
  }

  /** The policy's, if it has one, whichever limiter refused; else the module's. */
  #callback({ acquisition, set, policy }: Refusal): OnRejected | undefined {
    if (!set.isGlobal(policy)) return policy.onRejected ?? this.#settings.onRejected;
    const ofEndpoint = [...(acquisition.set?.endpointPolicies ?? []), ...acquisition.elsewhere];
    const answering = ofEndpoint.find(({ onRejected }) => onRejected !== undefined);
    return answering?.onRejected ?? policy.onRejected ?? this.#settings.onRejected;
  }
}

/** Which policy refused, and what is known of that. */
type Facts = Pick<Rejection, 'policyName' | 'reason' | 'retryAfterMs'>;

function factsOf({ set, lease, policy }: Refusal): Facts {
  const isAway = lease.getMetadata(MetadataName.reasonPhrase) === STORE_UNAVAILABLE;
  const ownReason = set.isGlobal(policy) ? 'global' : 'endpoint';
  return {
    policyName: policy.name,
    reason: isAway ? 'store' : ownReason,
    retryAfterMs: retryAfterOfAll(lease) ?? lease.getMetadata(MetadataName.retryAfter),
  };
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
  const limit = Error.stackTraceLimit;
  try {
    Error.stackTraceLimit = 0;
  } catch {
    // An application may have frozen what the language brings: then it is written down all the same.
    return new RateLimitRejectedException(rejection);
  }
  try {
    return new RateLimitRejectedException(rejection);
  } finally {
    Error.stackTraceLimit = limit;
  }
}
