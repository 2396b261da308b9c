import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Clock } from '../clock.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import { REASON, RefusedLease } from '../engine/refused-lease.js';
import { errorsOfEach, throwCollected } from '../errors.js';
import type { RateLimitLease, RateLimitQuota } from '../rate-limit-lease.js';
import { acquireChain } from './chain-decision.js';
import { decidingLinksOf, linksOf } from './chain-link.js';
import { ChainRefusedLease, noteAboveLimit, refusedMember, retryAfterOfAll } from './chain-refusal.js';
import type { ChainOwner } from './chain-request.js';
import { CombinedLease } from './combined-lease.js';
import type { JointDecider, JointOutcome } from './joint-decision.js';
import { jointDeciderOf, takeBack } from './joint-decision.js';
import { acquireInOrder, requireLease, untilItEnds } from './sequential-chain.js';
import { WaitBudget } from './wait-budget.js';

/** Members of a chain that are asked by one question. */
interface JointAsk {
  /** Their indexes in the chain. */
  readonly members: number[];
  readonly limiters: AsyncRateLimiter[];
  readonly identities: Set<unknown>;
  readonly ask: (limiters: readonly AsyncRateLimiter[], wait: WaitLimits) => Promise<JointOutcome>;
  /** By which they wait; by default it is the system's. */
  readonly clock: Clock | undefined;
}

/** What a chain asks with. */
export interface JointRequest {
  readonly permits: number;
  readonly wait: WaitLimits;
  /** The chain itself, which ends its requests. */
  readonly chain: ChainOwner;
  /** The same with the limiters of partitions that may end too: who waits in this process asks for them at his turn. */
  readonly owner: ChainOwner;
}

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
  if (!outcome.lease.isAcquired) return refusal(outcome, [...limiters.keys()]);
  return chain.hasEnded ? refusedByEnd([outcome.lease]) : outcome.lease;
}

/**
 * Asks a chain with members that can't be asked at once. Those that decide in the same place are asked together,
 * those in this process together at the end, because what they grant of a rate can't be taken back. What was
 * granted before a refusal is taken back.
 */
export async function acquireJointly(
  limiters: readonly AsyncRateLimiter[],
  request: JointRequest,
): Promise<RateLimitLease> {
  const { chain } = request;
  const asks = asksOf(limiters, request);
  const granted: RateLimitLease[] = [];
  const budget = new WaitBudget(request.wait);
  for (const { members, limiters: asked, ask, clock } of asks) {
    let outcome: JointOutcome;
    try {
      // Each has to know that all before it granted.
      // oxlint-disable-next-line no-await-in-loop
      outcome = await budget.spend((wait) => ask(asked, wait), clock);
    } catch (error) {
      if (error instanceof Error) noteAboveLimit(error, memberOf(members, refusedMember(error)));
      takeAllBack(granted, [error]);
      throw error;
    }
    if (!outcome.lease.isAcquired) {
      takeAllBack(granted);
      return refusal(outcome, members);
    }
    granted.push(outcome.lease);
    // Nobody would end its wait in those that are asked next.
    if (chain.hasEnded) return refusedByEnd(granted);
  }
  return new JointLease(granted, asks);
}

/** What several asks have granted. */
class JointLease extends CombinedLease {
  readonly #asks: readonly JointAsk[];

  constructor(leases: readonly RateLimitLease[], asks: readonly JointAsk[]) {
    super(leases);
    this.#asks = asks;
  }

  protected override memberOf(index: number, own: number): number {
    return memberOf(this.#asks[index]!.members, own);
  }
}

function asksOf(limiters: readonly AsyncRateLimiter[], request: JointRequest): JointAsk[] {
  const { permits, chain } = request;
  const asks: JointAsk[] = [];
  const byDomain = new Map<unknown, JointAsk>();
  const here: JointAsk = {
    members: [],
    limiters: [],
    identities: new Set(),
    ask: (asked, wait) => askHere(asked, { ...request, wait }),
    clock: undefined,
  };
  limiters.forEach((limiter, member) => {
    if (linksOf([limiter]) !== null) return add(here, limiter, member, limiter);
    const decider = jointDeciderOf(limiter);
    if (decider === undefined) {
      const alone = newAsk((_asked, wait) => askAlone(limiter, member, { ...request, wait }));
      asks.push(alone);
      return add(alone, limiter, member, limiter);
    }
    let ask = byDomain.get(decider.domain);
    if (ask === undefined || ask.identities.has(decider.identity)) {
      ask = newAsk(
        (asked, wait) => decider.acquire(asked, permits, wait, chain.waitingElsewhere),
        decider.clock,
      );
      byDomain.set(decider.domain, ask);
      asks.push(ask);
    }
    add(ask, limiter, member, decider.identity);
  });
  return here.members.length === 0 ? asks : [...asks, here];
}

function newAsk(ask: JointAsk['ask'], clock?: Clock): JointAsk {
  return { members: [], limiters: [], identities: new Set(), ask, clock };
}

function add(
  ask: JointAsk,
  limiter: AsyncRateLimiter,
  member: number,
  // oxlint-disable-next-line max-params -- what is added, and where
  identity: unknown,
): void {
  ask.members.push(member);
  ask.limiters.push(limiter);
  ask.identities.add(identity);
}

async function askHere(limiters: readonly AsyncRateLimiter[], request: JointRequest): Promise<JointOutcome> {
  const { permits, wait, owner } = request;
  const links = decidingLinksOf(limiters, permits);
  // One of them may have ended while the others were asked.
  if (links === null) {
    const inOrder = await acquireOneByOne(limiters, request);
    return outcomeOf(inOrder, refusedMember(inOrder));
  }
  const lease = await acquireChain(links, permits, owner, wait);
  return outcomeOf(lease, refusedMember(lease));
}

async function askAlone(
  limiter: AsyncRateLimiter,
  member: number,
  { permits, wait, chain }: JointRequest,
): Promise<JointOutcome> {
  const lease = await untilItEnds(chain, wait.signal, async (signal) =>
    requireLease(await limiter.acquire(permits, { ...wait, signal }), member),
  );
  return outcomeOf(lease, 0);
}

/** Asks limiters that know nothing of the chain one after the other. */
export function acquireOneByOne(
  limiters: readonly AsyncRateLimiter[],
  { permits, wait, chain }: JointRequest,
): Promise<RateLimitLease> {
  const budget = new WaitBudget(wait);
  return untilItEnds(chain, wait.signal, (signal) =>
    acquireInOrder(
      limiters.map(
        (limiter) => () => budget.spend(({ maxWaitMs }) => limiter.acquire(permits, { signal, maxWaitMs })),
      ),
    ),
  );
}

/** The chain, or one within it, has ended meanwhile: what was granted is taken back. */
function refusedByEnd(granted: readonly RateLimitLease[]): RateLimitLease {
  takeAllBack(granted);
  return new RefusedLease(REASON.limiterDisposed);
}

function outcomeOf(lease: RateLimitLease, refusedBy: number): JointOutcome {
  if (lease.isAcquired) return { lease, refusedBy: -1, retryAfterOfAllMs: undefined };
  return { lease, refusedBy, retryAfterOfAllMs: retryAfterOfAll(lease) };
}

function refusal(
  { lease, refusedBy, retryAfterOfAllMs }: JointOutcome,
  members: readonly number[],
): RateLimitLease {
  const quota = lease.quota().map((entry): RateLimitQuota => ({
    ...entry,
    member: memberOf(members, entry.member),
  }));
  return new ChainRefusedLease(lease, quota, { member: members[refusedBy]!, retryAfterOfAllMs });
}

/** The member of the chain that an ask tells of. One that is asked alone may be a chain, and tell of its own members. */
function memberOf(members: readonly number[], own: number): number {
  return members.length === 1 ? members[0]! : members[own]!;
}

/** Takes back what was granted, the last first. Throws what goes wrong with that, and then what has before. */
function takeAllBack(leases: readonly RateLimitLease[], before: readonly unknown[] = []): void {
  const errors = errorsOfEach([...leases].reverse(), takeBack);
  throwCollected([...errors, ...before], 'Several members of a chain failed.');
}
