import * as fc from 'fast-check';
import { createChainedRateLimiter } from '../../src/index.js';
import type { RateLimiter } from '../../src/index.js';
import type { Grant } from './guarantees.js';
import { boundOf, brokenPromise } from './guarantees.js';
import type { Kind, Setup } from './limiter-setups.js';
import { anySetup, createLimiter, KINDS } from './limiter-setups.js';
import type { Command } from './trace.js';
import { anyCommand } from './trace.js';
import type { WatchedRequest } from './watched-limiters.js';
import { Watch } from './watched-limiters.js';

/** A member of the chains. */
export interface Member {
  readonly kind: Kind;
  readonly setup: Setup;
}

/** A command to one of the chains or one of their members. */
export type ChainCommand = Command & { readonly target: number };

const anyMember: fc.Arbitrary<Member> = fc.record({
  kind: fc.constantFrom(...KINDS),
  setup: anySetup,
});
export const anyMembers = fc.array(anyMember, { minLength: 2, maxLength: 3 });

/** Members so scarce that requests are passed over often, and come to reserve. */
export const anyScarceMembers: fc.Arbitrary<Member[]> = fc.array(
  fc.tuple(anyMember, fc.integer({ min: 1, max: 2 })).map(([{ kind, setup }, limit]) => ({
    kind,
    setup: { ...setup, limit, queueLimit: 100, queueProcessingOrder: 'oldestFirst' as const },
  })),
  { minLength: 2, maxLength: 3 },
);

export const anyChainTrace: fc.Arbitrary<ChainCommand[]> = fc.array(
  fc.tuple(anyCommand, fc.nat({ max: 7 })).map(([command, target]) => ({ ...command, target })),
  { minLength: 1, maxLength: 60, size: 'max' },
);

const picks = fc.nat({ max: 99 });

/** Much waiting, and work that ends as often as it begins. */
export const anyBusyTrace: fc.Arbitrary<ChainCommand[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('acquire' as const),
      permits: fc.integer({ min: 1, max: 2 }),
      target: picks,
    }),
    fc.record({ do: fc.constant('attempt' as const), permits: fc.constant(1), target: picks }),
    fc.record({ do: fc.constant('disposeLease' as const), pick: picks, target: picks }),
    fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 12 }), target: picks }),
    { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), pick: picks, target: picks }) },
  ),
  { minLength: 20, maxLength: 150, size: 'max' },
);

/** Limiters, a chain of them, one in the other order, and requests to all of these. */
export class ChainTrial {
  readonly watch = new Watch();
  readonly members: readonly (Member & { readonly limiter: RateLimiter })[];
  readonly chains: readonly RateLimiter[];
  readonly #limit: number;

  constructor(members: readonly Member[]) {
    this.members = members.map((member) => {
      // Each token of a greedy bucket takes whole milliseconds, so that grants are noted at their exact time.
      const setup = member.kind === 'greedyBucket' ? { ...member.setup, tokensPerPeriod: 1 } : member.setup;
      return { kind: member.kind, setup, limiter: createLimiter(member.kind, setup, this.watch.clock) };
    });
    const limiters = this.members.map(({ limiter }) => limiter);
    this.chains = [createChainedRateLimiter(...limiters), createChainedRateLimiter(...limiters.reverse())];
    this.#limit = Math.min(...members.map(({ setup }) => setup.limit));
  }

  async run(command: ChainCommand): Promise<void> {
    const { watch } = this;
    if (command.do === 'advance') await watch.advance(command.ms);
    else if (command.do === 'abort') await watch.abortOne(command.pick);
    else if (command.do === 'disposeLease') await watch.disposeOne(command.pick);
    else {
      const permits = Math.min(command.permits, this.#limit);
      const target = this.#target(command.target);
      if (command.do === 'attempt') watch.attempt(target, permits);
      else await watch.acquire(target, permits);
    }
  }

  /** Whether a granted request took permits of the member. */
  concerns(request: WatchedRequest, member: RateLimiter): boolean {
    return request.limiter === member || this.chains.includes(request.limiter);
  }

  /** Permits of a member that are held by requests. */
  heldOf(member: RateLimiter): number {
    const holding = this.watch.holding.filter((request) => this.concerns(request, member));
    return holding.reduce((sum, { permits }) => sum + permits, 0);
  }

  /** In words, where a member granted more than it promises. */
  get brokenPromises(): string[] {
    return this.members.flatMap(({ kind, setup, limiter }) => {
      const grants: Grant[] = this.watch.grants.filter(({ request }) => this.concerns(request, limiter));
      const broken = brokenPromise(grants, boundOf(kind, setup));
      return broken === undefined ? [] : [`${kind}: ${broken}`];
    });
  }

  /** Ends all work as it is granted, and lets time pass, until nobody waits or it has been tried often enough. */
  async drain(): Promise<void> {
    for (let round = 0; round < 10_000 && this.watch.waiting.length > 0; round++) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      while (this.watch.holding.length > 0) await this.watch.disposeOne(0);
      // oxlint-disable-next-line no-await-in-loop
      await this.watch.advance(1);
    }
    // oxlint-disable-next-line no-await-in-loop
    while (this.watch.holding.length > 0) await this.watch.disposeOne(0);
  }

  #target(target: number): RateLimiter {
    const all = [...this.chains, ...this.chains, ...this.members.map(({ limiter }) => limiter)];
    return all[target % all.length]!;
  }
}
