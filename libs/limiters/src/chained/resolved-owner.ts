import type { AsyncRateLimiter } from '../async-rate-limiter.js';
import type { Endable } from './chain-end.js';
import { endablesAmong, hasOneEnded } from './chain-end.js';
import type { ChainOwner, ChainRequest } from './chain-request.js';
import type { EndableWait } from './joint-decision.js';

/** The chain, together with the chains that partitions have as limiters: who waits here asks for their end at his turn. */
export function ownerOf(chain: ChainOwner, limiters: readonly AsyncRateLimiter[]): ChainOwner {
  const endables = endablesAmong(limiters);
  return endables.length === 0 ? chain : new ResolvedOwner(chain, endables);
}

/** A chain, as a request waits for it that has resolved to limiters which may end too. */
class ResolvedOwner implements ChainOwner {
  readonly waiting: Set<ChainRequest>;
  readonly waitingElsewhere: Set<EndableWait>;
  readonly #chain: ChainOwner;
  readonly #endables: readonly Endable[];

  constructor(chain: ChainOwner, endables: readonly Endable[]) {
    this.waiting = chain.waiting;
    this.waitingElsewhere = chain.waitingElsewhere;
    this.#chain = chain;
    this.#endables = endables;
  }

  get hasEnded(): boolean {
    return this.#chain.hasEnded || hasOneEnded(this.#endables);
  }
}
