import type { ApplicationValue } from '../context/rate-limiting-context.js';
import type { RejectionReason } from '../rejection/rate-limit-rejected.exception.js';

/** The body of a refusal as problem details (RFC 9457). */
export interface ProblemDetails {
  /** What kind of problem it is: the registered type for exhausted quotas, or `about:blank`. */
  readonly type: string;
  /** The kind of problem in words. */
  readonly title: string;
  /** The status of the answer. */
  readonly status: number;
  /** What happened, for people. */
  readonly detail: string;
  /** The policies that refused, as the `RateLimit` fields call them. */
  readonly 'violated-policies'?: readonly string[];
}

/** The media type of problem details. */
export const PROBLEM_TYPE = 'application/problem+json';

const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** What the body is made of. */
export interface Problem {
  readonly status: number;
  readonly reason: RejectionReason;
  readonly detail: string;
  /** Where it may be named. */
  readonly policyName: string | undefined;
}

/** Makes the body. */
export function problemDetails({ status, reason, detail, policyName }: Problem): ProblemDetails {
  if (reason === 'store' || reason === 'shutdown') {
    return { type: 'about:blank', title: 'Service Unavailable', status, detail };
  }
  return {
    type: QUOTA_EXCEEDED,
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    status,
    detail,
    ...(policyName === undefined ? {} : { 'violated-policies': [policyName] }),
  };
}

/** Whether a client asks for problem details. */
export function acceptsProblem(request: ApplicationValue): boolean {
  const { headers } = (request ?? {}) as { headers?: Record<string, unknown> };
  return typeof headers?.accept === 'string' && headers.accept.includes(PROBLEM_TYPE);
}
