import { HttpException } from '@nestjs/common';
import type { ProblemDetails } from '../http/problem-details.js';
import { problemDetails } from '../http/problem-details.js';
import type { RateLimitLease } from '@ratelease/limiters';

/** Which part refused: the global limiter, a policy, a store that can't be reached, the end of the application. */
export type RejectionReason = 'global' | 'endpoint' | 'store' | 'shutdown';

/** Material of a {@link RateLimitRejectedException}. */
export interface Rejection {
  /** The refused lease. */
  readonly lease: RateLimitLease;
  /** The policy that refused. */
  readonly policyName: string;
  /** Which part refused. */
  readonly reason: RejectionReason;
  /** Milliseconds until the same request can pass; `undefined` where unknown. */
  readonly retryAfterMs: number | undefined;
  /** The status of the answer. */
  readonly status: number;
  /** What happened, for people. */
  readonly message: string;
}

/** The body of a refusal, unless an exception filter makes another one. */
export interface RejectionBody {
  /** The status of the answer. */
  readonly statusCode: number;
  /** What happened, for people. */
  readonly message: string;
}

const BRAND = Symbol.for('ratelease.rejected-exception');

/** Thrown for a refused request, so that the application's exception filters make the answer. */
export class RateLimitRejectedException extends HttpException {
  /** The refused lease, with its metadata. It has ended when filters see it, and when `onRejected` is over. */
  readonly lease: RateLimitLease;
  /** The policy that refused; `global` for the global limiter; the class for an unnamed policy. */
  readonly policyName: string;
  /** Which part refused. */
  readonly reason: RejectionReason;
  /** Milliseconds until the same request could pass; `undefined` where nobody knows, as for concurrency. */
  readonly retryAfterMs: number | undefined;
  #status: number;
  #isProblem = false;
  #policyShown: string | undefined;

  constructor(rejection: Rejection) {
    super(rejection.message, rejection.status);
    this.name = 'RateLimitRejectedException';
    this.lease = rejection.lease;
    this.policyName = rejection.policyName;
    this.reason = rejection.reason;
    this.retryAfterMs = rejection.retryAfterMs;
    this.#status = rejection.status;
  }

  /** The status of the answer. */
  override getStatus(): number {
    return this.#status;
  }

  /** The body of the answer. */
  override getResponse(): RejectionBody | ProblemDetails {
    const { reason, message: detail } = this;
    if (!this.#isProblem) return { statusCode: this.#status, message: detail };
    return problemDetails({ status: this.#status, reason, detail, policyName: this.#policyShown });
  }

  /**
   * Has the body be problem details.
   *
   * @internal
   */
  answerAsProblem(policyName: string | undefined): void {
    this.#isProblem = true;
    this.#policyShown = policyName;
  }

  /** Takes over a status that `onRejected` has set on the response. */
  answerWith(status: number): void {
    this.#status = status;
  }

  /** Recognises the exceptions of another loaded copy of this package as well, for `@Catch` too. */
  static override [Symbol.hasInstance](this: unknown, value: unknown): boolean {
    if (this !== RateLimitRejectedException) return Function.prototype[Symbol.hasInstance].call(this, value);
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

Object.defineProperty(RateLimitRejectedException.prototype, BRAND, { value: true });
