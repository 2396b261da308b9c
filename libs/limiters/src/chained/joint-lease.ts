import { throwCollected } from '../errors.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import { CombinedLease } from './combined-lease.js';
import type { JointAsk } from './joint-ask.js';

/** What leases of limiters that decide elsewhere may have. */
interface LosableLease extends RateLimitLease, Partial<AsyncDisposable> {
  readonly signal?: AbortSignal | undefined;
}

/** What several places have granted together. */
export class JointLease extends CombinedLease implements AsyncDisposable {
  readonly #asks: readonly JointAsk[];
  readonly #granted: readonly LosableLease[];
  #signal: AbortSignal | undefined = undefined;

  constructor(asks: readonly JointAsk[], leases: readonly RateLimitLease[]) {
    super(leases);
    this.#asks = asks;
    this.#granted = leases;
  }

  /** Aborts when one of the leases aborts its own signal, as its permits were lost, and for the same reason. */
  get signal(): AbortSignal {
    this.#signal ??= firstOf(this.#granted.flatMap(({ signal }) => signal ?? []));
    return this.#signal;
  }

  /** Gives everything back, and waits for it where a lease can tell when that has happened. */
  async [Symbol.asyncDispose](): Promise<void> {
    const endings = [...this.takeLeases()].reverse().map(endOf);
    const errors = (await Promise.allSettled(endings)).flatMap((ending) =>
      ending.status === 'rejected' ? [ending.reason as unknown] : [],
    );
    throwCollected(errors, 'Several leases of a chain failed to end.');
  }

  /** In the order of the chain's members, whichever was asked first. */
  override quota(): readonly RateLimitQuota[] {
    return [...super.quota()].sort((one, other) => one.member - other.member);
  }

  protected override memberOf(index: number, own: number): number {
    return this.#asks[index]!.memberOf(own);
  }
}

/** Aborts with the first of the signals. */
function firstOf(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', () => controller.abort(signal.reason));
  }
  return controller.signal;
}

async function endOf(lease: LosableLease): Promise<void> {
  if (lease[Symbol.asyncDispose] === undefined) lease.dispose();
  else await lease[Symbol.asyncDispose]!();
}
