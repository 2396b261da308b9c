import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import type { ChainOwner, ChainRequest } from './chain-request.js';
import { withdrawAll } from './chain-request.js';
import { asksOf, decidesElsewhere } from './joint-ask.js';
import type { EndableWait, JointDecider } from './joint-decision.js';
import { jointDeciderOf, takeBackBy } from './joint-decision.js';
import { JointRequest, refusalBy } from './joint-request.js';
import { ownerOf } from './resolved-owner.js';

/** The decider that can ask all of them by one question, or `null`. Most chains of such members have one. */
export function soleDeciderOf(limiters: readonly AsyncRateLimiter[]): JointDecider | null {
  const first = jointDeciderOf(limiters[0]!);
  if (first === undefined) return null;
  for (let index = 1; index < limiters.length; index++) {
    const decider = jointDeciderOf(limiters[index]!);
    if (decider === undefined || decider.domain !== first.domain) return null;
    for (let before = 0; before < index; before++)
      if (jointDeciderOf(limiters[before]!)!.identity === decider.identity) return null;
  }
  return first;
}

/** Asks a chain whose members all decide in the same place; see {@link soleDeciderOf}. */
// oxlint-disable-next-line max-params -- once per decision: they aren't worth an object
export async function acquireByOne(
  decider: JointDecider,
  limiters: readonly AsyncRateLimiter[],
  permits: number,
  wait: WaitLimits,
  chain: ChainOwner,
): Promise<RateLimitLease> {
  const outcome = await decider.acquire(limiters, permits, wait, chain.waitingElsewhere);
  if (!outcome.lease.isAcquired) return refusalBy(outcome, (member) => member);
  if (!chain.hasEnded) return outcome.lease;
  takeBackBy(decider, limiters, outcome.lease);
  return new RefusedLease(REASON.limiterDisposed);
}

/** Whether a chain has members that decide elsewhere, in one of its chains perhaps. */
export function hasMembersElsewhere(limiters: readonly AsyncRateLimiter[]): boolean {
  return limiters.some((limiter) => jointDeciderOf(limiter) !== undefined || decidesElsewhere(limiter));
}

/** Asks a chain with members that can't be asked at once; see {@link JointRequest}. */
// oxlint-disable-next-line max-params -- what is asked, and for whom
export async function acquireJointly(
  limiters: readonly AsyncRateLimiter[],
  permits: number,
  wait: WaitLimits,
  chain: ChainOwner,
): Promise<RateLimitLease> {
  const chains = [chain, ...chainsAmong(limiters)];
  const own = new RequestOwner(chains);
  const asks = asksOf(limiters, { permits, chain: own, owner: ownerOf(own, limiters) });
  for (const one of chains) one.waitingElsewhere.add(own);
  try {
    return await new JointRequest(asks, own, wait).run();
  } finally {
    for (const one of chains) one.waitingElsewhere.delete(own);
  }
}

/** The chains, among limiters and within them, whose members are asked in their stead. */
function chainsAmong(limiters: readonly AsyncRateLimiter[]): ChainOwner[] {
  return limiters
    .filter(decidesElsewhere)
    .flatMap(({ chain, limiters: within }) => [chain, ...chainsAmong(within)]);
}

/** The chains of one request: what waits for it ends with each of them. */
class RequestOwner implements ChainOwner, EndableWait {
  readonly waiting = new Set<ChainRequest>();
  readonly waitingElsewhere = new Set<EndableWait>();
  readonly #chains: readonly ChainOwner[];

  constructor(chains: readonly ChainOwner[]) {
    this.#chains = chains;
  }

  get hasEnded(): boolean {
    return this.#chains.some((chain) => chain.hasEnded);
  }

  dispose(): void {
    withdrawAll(this);
  }
}
