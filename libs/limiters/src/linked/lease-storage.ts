import { errorsOfEach, show, throwCollected, typeError } from '../errors.js';
import { RateLimitLease } from '../rate-limit-lease.js';
import type { DerivedLease } from './derived-lease.js';

/** What became of a lease that was offered to a store. */
export interface StoredLease {
  /** Whether the store has taken it; `false` where an earlier one is there. */
  readonly stored: boolean;
  /** The lease to go on with: the earlier one where there is one. */
  readonly lease: RateLimitLease;
}

/** What a subclass of the owner says about its storage. */
export interface LeaseHooks {
  /** The class of the owner, for messages. */
  readonly name: string;
  tryGetLease(): RateLimitLease | undefined;
  trySetLease(lease: RateLimitLease): StoredLease;
  makeDerived(lease: RateLimitLease, permitCount: number): DerivedLease;
}

const CODE = 'ERR_RL_INVALID_ARGUMENT';

/**
 * Stands between an owner and the storage that a subclass has written: whatever that does or throws, a granted
 * lease ends up either in the store or given back.
 */
export class LeaseStorage {
  readonly #hooks: LeaseHooks;
  /** What the store has said to have taken; it goes back at the end even if the store has lost it. */
  readonly #taken: RateLimitLease[] = [];
  /** What went back because the store failed; it may be there all the same. */
  #givenBack: WeakSet<RateLimitLease> | null = null;

  constructor(hooks: LeaseHooks) {
    this.#hooks = hooks;
  }

  /** The granted lease in the store, if any. @throws TypeError | whatever the store throws. */
  read(): RateLimitLease | undefined {
    const lease: unknown = this.#hooks.tryGetLease();
    if (lease === undefined || lease === null) return undefined;
    if (!(lease instanceof RateLimitLease)) {
      throw typeError(
        CODE,
        `${this.#hooks.name}.tryGetLease must return a lease, or undefined where there is none, but got ${show(lease)}.`,
      );
    }
    return lease.isAcquired && this.#givenBack?.has(lease) !== true ? lease : undefined;
  }

  /**
   * Puts a granted lease into the store, or gives it back where an earlier one is there.
   * @returns the lease to go on with.
   * @throws TypeError | whatever the store throws - after the lease was given back.
   */
  write(granted: RateLimitLease): RateLimitLease {
    let answer: unknown;
    try {
      answer = this.#hooks.trySetLease(granted);
    } catch (error) {
      return this.#failed(granted, error);
    }
    if (!isStoredLease(answer) || this.#isContradiction(answer, granted)) {
      const error = typeError(
        CODE,
        `${this.#hooks.name}.trySetLease must return { stored, lease } with the granted lease to go on with, the ` +
          `earlier one where it has stored nothing, but got ${describe(answer)}.`,
      );
      return this.#failed(granted, error);
    }
    if (answer.stored) this.#taken.push(granted);
    else granted.dispose();
    return answer.lease;
  }

  /** The end: everything goes back. Returns what went wrong. */
  end(): unknown[] {
    const errors: unknown[] = [];
    const leases = new Set(this.#taken.splice(0));
    try {
      const last = this.read();
      if (last !== undefined) leases.add(last);
    } catch (error) {
      errors.push(error);
    }
    errors.push(...errorsOfEach(leases, (lease) => lease.dispose()));
    return errors;
  }

  /** Not stored, but to go on with: only where a limiter hands out one lease again and again. */
  #isContradiction(answer: StoredLease, granted: RateLimitLease): boolean {
    return !answer.stored && answer.lease === granted && !this.#taken.includes(granted);
  }

  #failed(granted: RateLimitLease, error: unknown): never {
    this.#givenBack ??= new WeakSet();
    this.#givenBack.add(granted);
    const errors = [error];
    try {
      granted.dispose();
    } catch (disposeError) {
      errors.unshift(disposeError);
    }
    throwCollected(errors, `A lease that ${this.#hooks.name} could not store failed to end.`);
    throw error;
  }
}

function isStoredLease(answer: unknown): answer is StoredLease {
  const { stored, lease } = (answer ?? {}) as Partial<StoredLease>;
  return typeof stored === 'boolean' && lease instanceof RateLimitLease && lease.isAcquired;
}

function describe(answer: unknown): string {
  if (typeof answer !== 'object' || answer === null) return show(answer);
  const { stored, lease } = answer as Partial<StoredLease>;
  return `{ stored: ${show(stored)}, lease: ${show(lease)} }`;
}
