import type { RateLimitQuota } from '@ratelease/limiters';

/** Structured fields know integers of at most 15 digits. */
const LARGEST_INTEGER = 999_999_999_999_999;
const MS_PER_SECOND = 1_000;

/** The item of a policy in the field `RateLimit-Policy`: the same text as long as the numbers are the same. */
export class PolicyItem {
  readonly #name: string;
  #limit: number | undefined = undefined;
  #windowMs: number | undefined = undefined;
  #text = '';

  /** @param name - as a structured string. */
  constructor(name: string) {
    this.#name = name;
  }

  of({ limit, windowMs }: RateLimitQuota): string {
    if (limit !== this.#limit || windowMs !== this.#windowMs) {
      this.#limit = limit;
      this.#windowMs = windowMs;
      this.#text = policyText(this.#name, limit, windowMs);
    }
    return this.#text;
  }
}

/** The text of an item. */
export function policyText(name: string, limit: number, windowMs: number | undefined): string {
  const window =
    windowMs === undefined ? ';qu="concurrent-requests"' : `;w=${Math.max(1, seconds(windowMs))}`;
  return `${name};q=${integer(limit)}${window}`;
}

/** Whole seconds, rounded up: a client that waits as long as it is told must not come too early. */
export function seconds(ms: number): number {
  return integer(Math.ceil(ms / MS_PER_SECOND));
}

/** A number as structured fields can write it. */
export function integer(value: number): number {
  return Math.min(Math.max(0, value), LARGEST_INTEGER);
}
