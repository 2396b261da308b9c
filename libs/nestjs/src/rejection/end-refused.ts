import { RateLimitLease } from '@ratelease/limiters';
import { endQuietly } from '../holding/end-quietly.js';
import type { PolicySet } from '../policies/policy-set.js';

/**
 * Ends a refused lease when the application's callback has had it, at the latest when the client has left: a callback
 * may never end. Ours hold nothing when they are refused, but what a limiter of the application's hangs on its leases
 * only that limiter knows.
 */
export async function endAfter<T>(
  work: () => Promise<T>,
  refused: { readonly lease: RateLimitLease; readonly set: PolicySet },
  signal: AbortSignal,
): Promise<T> {
  const { lease, set } = refused;
  if (lease.dispose === RateLimitLease.prototype.dispose) return work();
  let hasEnded = false;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    signal.removeEventListener('abort', end);
    endQuietly(lease, set);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);
  try {
    return await work();
  } finally {
    end();
  }
}
