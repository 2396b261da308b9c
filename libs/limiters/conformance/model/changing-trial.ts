import type { ChainCommand, Member } from './chain-trial.js';
import { expectAtMost } from './compared.js';
import type { ChangeableLimiter } from './limiter-setups.js';
import { changeLimit } from './limiter-setups.js';
import { ReservingTrial } from './reserving-trial.js';

/** Another limit for a member, or a member as new. */
export interface LimitChange {
  readonly do: 'change' | 'reset';
  readonly target: number;
  readonly limit: number;
}

/** Chains and their members, whose limits change while requests wait, reserve and work. */
export class ChangingTrial extends ReservingTrial {
  readonly #limits: number[];
  /** What was handed out before gives nothing back: how much is held isn't known any more. */
  #isReset = false;
  #seenGrants = 0;

  constructor(members: readonly Member[]) {
    super(members);
    this.#limits = this.members.map(({ setup }) => setup.limit);
  }

  async play(command: ChainCommand | LimitChange): Promise<void> {
    if ('limit' in command) await this.#change(command);
    else if ('permits' in command)
      await this.run({ ...command, permits: Math.min(command.permits, ...this.#limits) });
    else await this.run(command);
  }

  async #change({ do: what, target, limit }: LimitChange): Promise<void> {
    const index = target % this.members.length;
    const limiter = this.members[index]!.limiter as ChangeableLimiter;
    if (what === 'reset') {
      this.#isReset = true;
      limiter.reset();
    } else {
      this.#limits[index] = limit;
      changeLimit(limiter, limit);
    }
    await this.watch.advance(0);
  }

  /** To be called at the beginning and after each command. */
  expectWithinLimits(): void {
    const grants = this.watch.grants.slice(this.#seenGrants);
    this.#seenGrants += grants.length;
    this.members.forEach(({ kind, limiter }, index) => {
      const concerned = grants.filter(({ request }) => this.concerns(request, limiter));
      for (const { permits } of concerned) expectAtMost(permits, this.#limits[index]!);
      const { currentAvailablePermits } = limiter.getStatistics()!;
      expectAtMost(currentAvailablePermits, this.#limits[index]!);
      // Of a lowered limit more may be held than it allows now.
      if (kind === 'concurrency' && currentAvailablePermits > 0 && !this.#isReset)
        expectAtMost(currentAvailablePermits + this.heldOf(limiter), this.#limits[index]!);
    });
  }

  expectAllBack(): void {
    const standing = this.members.map(({ limiter }) => limiter.getStatistics());
    expect(standing).toMatchObject(
      this.#limits.map((limit) => ({ currentAvailablePermits: limit, currentQueuedCount: 0 })),
    );
  }
}
