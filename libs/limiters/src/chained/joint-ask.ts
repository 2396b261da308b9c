import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Clock } from '../clock.js';
import type { WaitLimits } from '../partitioned/partitioned-rate-limiter.js';
import type { RateLimitLease } from '../rate-limit-lease.js';
import { acquireChain, reserveChain } from './chain-decision.js';
import type { ChainLink } from './chain-link.js';
import { decidingLinksOf, linksOf } from './chain-link.js';
import { refusedMember, retryAfterOfAll } from './chain-refusal.js';
import type { ChainOwner } from './chain-request.js';
import { SetAsideLease } from './chain-reservation.js';
import type { JointDecider, JointOutcome, JointWait } from './joint-decision.js';
import { jointDeciderOf, takeBack, takeBackBy } from './joint-decision.js';
import { ResolvedChain } from './resolved-chain.js';
import { acquireInOrder, requireLease, untilItEnds } from './sequential-chain.js';
import { WaitBudget } from './wait-budget.js';

/** Before all that lies elsewhere. */
const FIRST = '';

/** What a chain asks for. */
export interface JointQuestion {
  readonly permits: number;
  /** What waits elsewhere for it ends with it. */
  readonly chain: ChainOwner;
  /** The same with all among its members that may end too: who waits here asks for them at his turn. */
  readonly owner: ChainOwner;
}

/** Members of a chain that are asked by one question. */
export abstract class JointAsk {
  /** Their indexes in the chain. */
  readonly members: number[] = [];
  readonly limiters: AsyncRateLimiter[] = [];
  /** Its place in the order of those who keep what they get; `null`: last, as nobody has to give anything back for it. */
  get keepingOrder(): string | null {
    return null;
  }

  /** By which they wait; by default it is the system's. */
  readonly clock: Clock | undefined = undefined;
  protected readonly question: JointQuestion;

  constructor(question: JointQuestion) {
    this.question = question;
  }

  add(limiter: AsyncRateLimiter, member: number): void {
    this.limiters.push(limiter);
    this.members.push(member);
  }

  /** The member of the chain that an answer tells of. One that is asked alone may be a chain, and tell of its own members. */
  memberOf(own: number): number {
    return this.members.length === 1 ? this.members[0]! : this.members[own]!;
  }

  abstract ask(wait: JointWait): Promise<JointOutcome>;

  /** All others have granted too: the lease that it has granted, or a refusal where that has become impossible. */
  confirm(lease: RateLimitLease): RateLimitLease {
    return lease;
  }

  /** Takes back what it has granted. */
  takeBack(lease: RateLimitLease): void {
    takeBack(lease);
  }
}

/** Members that decide in the same place. */
class AskElsewhere extends JointAsk {
  override readonly clock: Clock | undefined;
  readonly #decider: JointDecider;
  readonly #identities = new Set<unknown>();
  #keepingOrder: string | null = null;

  constructor(question: JointQuestion, decider: JointDecider) {
    super(question);
    this.#decider = decider;
    this.clock = decider.clock;
  }

  override get keepingOrder(): string | null {
    return this.#keepingOrder;
  }

  /** @returns `false` where one takes from the same permits already. */
  tryAdd(limiter: AsyncRateLimiter, member: number, { identity, keepingOrder }: JointDecider): boolean {
    if (this.#identities.has(identity)) return false;
    this.#identities.add(identity);
    this.#keepingOrder ??= keepingOrder ?? null;
    this.add(limiter, member);
    return true;
  }

  override ask(wait: JointWait): Promise<JointOutcome> {
    const { permits, chain } = this.question;
    return this.#decider.acquire(this.limiters, permits, wait, chain.waitingElsewhere);
  }

  override takeBack(lease: RateLimitLease): void {
    takeBackBy(this.#decider, this.limiters, lease);
  }
}

/** A member that knows nothing of chains. */
class AskAlone extends JointAsk {
  override async ask(wait: JointWait): Promise<JointOutcome> {
    const { permits, chain } = this.question;
    const lease = await untilItEnds(chain, wait.signal, async (signal) =>
      requireLease(
        await this.limiters[0]!.acquire(permits, { signal, maxWaitMs: wait.maxWaitMs }),
        this.members[0]!,
      ),
    );
    return outcomeOf(lease, 0);
  }
}

/** The members in this process. */
class AskHere extends JointAsk {
  /** Whether they set aside what is asked for until all others have granted, so that it can be undone. */
  setsAside = true;

  override get keepingOrder(): string | null {
    return this.setsAside ? FIRST : null;
  }

  addLinks(limiter: AsyncRateLimiter, member: number, links: readonly ChainLink[]): void {
    this.add(limiter, member);
    // Requests that share a permit of another limiter would set aside one each.
    if (links.some(({ participant }) => participant.takesFrom !== undefined)) this.setsAside = false;
  }

  override async ask(wait: JointWait): Promise<JointOutcome> {
    const lease = await this.#acquire(wait);
    return outcomeOf(lease, refusedMember(lease));
  }

  override confirm(lease: RateLimitLease): RateLimitLease {
    return lease instanceof SetAsideLease ? lease.take() : lease;
  }

  #acquire(wait: JointWait): Promise<RateLimitLease> {
    const { permits, owner } = this.question;
    const links = decidingLinksOf(this.limiters, permits);
    // One of them may have ended while the others were asked.
    if (links === null) return acquireOneByOne(this.limiters, this.question, wait);
    return this.setsAside
      ? reserveChain(links, permits, owner, wait)
      : acquireChain(links, permits, owner, wait);
  }
}

/** What a chain has to ask, in order. */
export type JointAsks = readonly JointAsk[];

/** The places of what is asked in the order in which those ask who keep what they get; see {@link JointDecider.keepingOrder}. */
export function inKeepingOrder(asks: JointAsks): number[] {
  const places = [...asks.keys()];
  const keyOf = (place: number): string | null => asks[place]!.keepingOrder;
  const ordered = places.filter((place) => keyOf(place) !== null);
  // Two that are the same keep their places.
  ordered.sort((one, other) => (keyOf(one)! < keyOf(other)! ? -1 : 1));
  return [...ordered, ...places.filter((place) => keyOf(place) === null)];
}

/**
 * Those that decide in the same place are asked together, and those in this process: these first, as that costs no way,
 * and they can set aside what is asked for. What can't be taken back once it is granted comes last. Chains within the
 * chain are asked as their members are.
 */
export function asksOf(limiters: readonly AsyncRateLimiter[], question: JointQuestion): JointAsks {
  const elsewhere: AskElsewhere[] = [];
  const alone: AskAlone[] = [];
  const here = new AskHere(question);
  const byDomain = new Map<unknown, AskElsewhere>();
  const addMember = (limiter: AsyncRateLimiter, member: number): void => {
    const links = linksOf([limiter]);
    if (links !== null) return here.addLinks(limiter, member, links);
    const decider = jointDeciderOf(limiter);
    if (decider !== undefined) {
      if (byDomain.get(decider.domain)?.tryAdd(limiter, member, decider) === true) return;
      const ask = new AskElsewhere(question, decider);
      ask.tryAdd(limiter, member, decider);
      byDomain.set(decider.domain, ask);
      elsewhere.push(ask);
      return;
    }
    // Others are asked as they are: nobody else could ask their members better.
    if (decidesElsewhere(limiter)) return limiter.limiters.forEach((one) => addMember(one, member));
    const ask = new AskAlone(question);
    ask.add(limiter, member);
    alone.push(ask);
  };
  limiters.forEach(addMember);
  if (here.limiters.length === 0) return [...elsewhere, ...alone];
  return here.setsAside ? [here, ...elsewhere, ...alone] : [...elsewhere, ...alone, here];
}

/** Whether a limiter is a chain with members that decide elsewhere, by itself or through a chain within it. */
export function decidesElsewhere(limiter: AsyncRateLimiter): limiter is ResolvedChain {
  if (!(limiter instanceof ResolvedChain)) return false;
  return limiter.limiters.some((one) => jointDeciderOf(one) !== undefined || decidesElsewhere(one));
}

/** Asks limiters that know nothing of the chain one after the other. */
export function acquireOneByOne(
  limiters: readonly AsyncRateLimiter[],
  { permits, chain }: Omit<JointQuestion, 'owner'>,
  wait: WaitLimits,
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

/** An answer that knows nothing of chains elsewhere, as an outcome. */
export function outcomeOf(lease: RateLimitLease, refusedBy: number): JointOutcome {
  if (lease.isAcquired) return { lease, refusedBy: -1, retryAfterOfAllMs: undefined };
  return { lease, refusedBy, retryAfterOfAllMs: retryAfterOfAll(lease) };
}
