import { setTimeout as after } from 'node:timers/promises';
import type { AcquireOptions, RateLimitLease } from '@ratelease/limiters';
import { createChainedPartitionedRateLimiter, createPartitionedRateLimiter } from '@ratelease/limiters';
import * as fc from 'fast-check';
import type { Redis } from 'ioredis';
import type { RedisConcurrencyLimiterOptions, RedisPartitions } from '../../src/index.js';
import { createRedisPartitions, STORE_UNAVAILABLE } from '../../src/index.js';
import type { CuttingProxy } from '../../../../test/redis/cutting-proxy.js';

/** What can happen on the way to the server; none of it takes long. */
const TROUBLES = {
  'all connections are cut': ({ proxy }: Surroundings) => proxy.cut(),
  'the server closes them': ({ admin }: Surroundings) =>
    admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
  'an answer is lost with its connection': ({ proxy }: Surroundings) => proxy.swallowNext(),
  'the scripts are forgotten': ({ admin }: Surroundings) => admin.script('FLUSH', 'SYNC'),
  'nothing is written for a time': ({ admin }: Surroundings) => admin.call('CLIENT', 'PAUSE', 15, 'WRITE'),
  'answers are late': ({ proxy }: Surroundings) => (proxy.delayMs = 3),
  'answers are in time': ({ proxy }: Surroundings) => (proxy.delayMs = 0),
};

const PAUSES = {
  'a microtask': () => Promise.resolve(),
  'a tick': () => new Promise<void>((resolve) => process.nextTick(resolve)),
  'a turn': () => new Promise<void>((resolve) => setImmediate(resolve)),
  'a millisecond': () => after(1),
};

const LIMITERS = {
  narrow: { permitLimit: 1 },
  wide: { permitLimit: 3 },
  waited: { permitLimit: 1, queueLimit: 100, leaseTtlMs: 3_000 },
} satisfies Record<string, RedisConcurrencyLimiterOptions>;
type Name = keyof typeof LIMITERS;
/** What the names of their fields and keys begin with. */
const PREFIXES: Record<Name, string> = {
  narrow: 'concurrency:1/0/',
  wide: 'concurrency:3/0/',
  waited: 'concurrency:1/100/',
};
const NAMES = Object.keys(LIMITERS) as Name[];
/** Which limiters a request asks, for one permit of each. */
const GROUPS: readonly (readonly Name[])[] = [['narrow'], ['wide'], ['narrow', 'wide'], ['wide', 'narrow']];
const KEYS = 2;
/** Each takes a millisecond, and questions to the server. */
const MOST_LOOKS = 2_000;

export type Step =
  | {
      readonly what: 'ask';
      readonly names: readonly Name[];
      readonly key: number;
      readonly isGreedy: boolean;
    }
  | { readonly what: 'wait'; readonly maxWaitMs: number | undefined; readonly key: number }
  | { readonly what: 'give back'; readonly which: number }
  | { readonly what: 'trouble'; readonly kind: keyof typeof TROUBLES }
  | { readonly what: 'pause'; readonly until: keyof typeof PAUSES };

const key = fc.nat(KEYS - 1);
/** Whether it asks also where it holds too much already. */
const isGreedy = fc.integer({ min: 0, max: 19 }).map((number) => number === 0);
const troubles = Object.keys(TROUBLES) as (keyof typeof TROUBLES)[];
const pauses = Object.keys(PAUSES) as (keyof typeof PAUSES)[];
/** What a program does next. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ what: only('ask'), names: fc.constantFrom(...GROUPS), key, isGreedy }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: only('wait'), maxWaitMs: fc.constantFrom(0, 4, undefined), key }),
  },
  { weight: 8, arbitrary: fc.record({ what: only('give back'), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ what: only('trouble'), kind: fc.constantFrom(...troubles) }) },
  { weight: 4, arbitrary: fc.record({ what: only('pause'), until: fc.constantFrom(...pauses) }) },
);

function only<const TText extends string>(text: TText): fc.Arbitrary<TText> {
  return fc.constant(text);
}

/** Where a program works. */
export interface Surroundings {
  readonly client: object;
  readonly proxy: CuttingProxy;
  /** Another connection to the server, past the proxy. */
  readonly admin: Redis;
  readonly prefix: string;
  readonly commandTimeoutMs: number;
  /** Whether every answer comes in that time, so that all are granted for whom there is enough. */
  readonly isPatient: boolean;
}

/** What a program has asked for. */
interface Asked {
  readonly names: readonly Name[];
  readonly key: number;
  /** Whether there are permits for it and for all that was asked before. */
  isSure: boolean;
  lease: RateLimitLease | null;
  /** Given back, or refused. */
  isOver: boolean;
}

/** A program that asks and gives back at random. */
export class RandomWork {
  readonly #where: Surroundings;
  readonly #shared: RedisPartitions;
  readonly #asked: Asked[] = [];
  readonly #answers: Promise<void>[] = [];

  constructor(where: Surroundings) {
    this.#where = where;
    const { client, prefix, commandTimeoutMs } = where;
    this.#shared = createRedisPartitions({ client, prefix, commandTimeoutMs });
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.what === 'ask') this.#ask(step);
      else if (step.what === 'wait') this.#wait(step.key, step.maxWaitMs);
      else if (step.what === 'give back') this.#giveBack(step.which);
      // oxlint-disable-next-line no-await-in-loop -- a program in order
      else await (step.what === 'trouble' ? TROUBLES[step.kind](this.#where) : PAUSES[step.until]());
    }
  }

  /** Serves all who wait, compares what is held here with what the server counts, and gives everything back. */
  async finish(): Promise<void> {
    let isAnswered = false;
    const all = Promise.all(this.#answers).then(() => (isAnswered = true));
    while (!isAnswered) {
      for (const asked of this.#held()) if (asked.names[0] === 'waited') this.#end(asked);
      // oxlint-disable-next-line no-await-in-loop -- until all are served
      await Promise.race([all, after(1)]);
    }
    await all;
    await this.#untilTold();
    await this.#compare();
    for (const asked of this.#held()) {
      this.#end(asked);
      // oxlint-disable-next-line no-await-in-loop -- while the one before is on its way
      await PAUSES['a turn']();
    }
    await this.#compare();
    await this.#shared.dispose();
    // Of leases and waits nothing is left.
    expect(await this.#where.admin.keys(`${this.#where.prefix}:v1:{*}:*`)).toEqual([]);
  }

  /** An answer to each group: what was asked before has been answered too, also where nobody has waited for it. */
  async #untilTold(): Promise<void> {
    for (let at = 0; at < KEYS; at++)
      for (const names of [...GROUPS, ['waited'] as const])
        // oxlint-disable-next-line no-await-in-loop -- one after the other, until there is an answer
        while ((await this.#look(names, at)).getMetadata('REASON_PHRASE') === STORE_UNAVAILABLE)
          await after(1);
  }

  /** What is given back may be on its way, and is tried again each second at least. */
  async #compare(): Promise<void> {
    const held = Array.from({ length: KEYS }, (_, at) => NAMES.map((name) => this.#used(name, at)));
    let counted = await this.#counted();
    // In looks, not in time: a machine that stands still takes from both.
    for (let look = 0; counted.join() !== held.join() && look < MOST_LOOKS; look++) {
      // oxlint-disable-next-line no-await-in-loop -- until it is so
      await after(1);
      // oxlint-disable-next-line no-await-in-loop
      counted = await this.#counted();
    }
    expect(counted).toEqual(held);
  }

  #counted(): Promise<number[][]> {
    return Promise.all(
      Array.from({ length: KEYS }, async (_, at) => {
        const partition = `${this.#where.prefix}:v1:{${at}}`;
        const fields = await this.#where.admin.hgetall(partition);
        return Promise.all(NAMES.map((name) => this.#countedOf(partition, fields, PREFIXES[name])));
      }),
    );
  }

  /** By the leases themselves and by the counter beside them, where they agree and nobody waits. */
  async #countedOf(partition: string, fields: Record<string, string>, prefix: string): Promise<number> {
    const used = Object.keys(fields).find((field) => field.startsWith(prefix) && field.endsWith('u'));
    if (used === undefined) return 0;
    const limiter = used.slice(0, -1);
    const leases = await this.#where.admin.zcard(`${partition}:${limiter}leases`);
    const isWaiting = fields[`${limiter}q`] !== '0' || fields[`${limiter}w`] !== '0';
    return isWaiting || Number(fields[used]) !== leases ? Number.NaN : leases;
  }

  /** Permits that are held here, or asked for. */
  #used(name: Name, at: number): number {
    return this.#asked.filter((one) => one.key === at && !one.isOver && one.names.includes(name)).length;
  }

  #held(): Asked[] {
    return this.#asked.filter(({ lease, isOver }) => lease !== null && !isOver);
  }

  #ask({ names, key: at, isGreedy }: Step & { what: 'ask' }): void {
    const isFree = names.every((name) => this.#used(name, at) < LIMITERS[name].permitLimit);
    if (!isFree && !isGreedy) return;
    // Questions of different groups may overtake each other: what one takes for which there is not enough, others miss.
    if (!isFree)
      for (const one of this.#asked)
        if (one.key === at && one.names.some((name) => names.includes(name))) one.isSure = false;
    this.#await(
      { names, key: at, isSure: isFree, lease: null, isOver: false },
      this.#acquire(names, at, 1, {}),
    );
  }

  #look(names: readonly Name[], at: number): Promise<RateLimitLease> {
    return this.#acquire(names, at, 0, { maxWaitMs: 0 });
  }

  // oxlint-disable-next-line max-params -- whom, and as of an acquisition
  #acquire(
    names: readonly Name[],
    at: number,
    permits: number,
    options: AcquireOptions,
  ): Promise<RateLimitLease> {
    const chain = createChainedPartitionedRateLimiter(
      ...names.map((name) =>
        createPartitionedRateLimiter(() =>
          this.#shared.getConcurrencyLimiter(String(at), () => LIMITERS[name]),
        ),
      ),
    );
    return chain.acquire(undefined, permits, options);
  }

  #wait(at: number, maxWaitMs: number | undefined): void {
    const isSure = maxWaitMs === undefined;
    const names = ['waited'] as const;
    this.#await(
      { names, key: at, isSure, lease: null, isOver: false },
      this.#acquire(names, at, 1, isSure ? {} : { maxWaitMs }),
    );
  }

  #await(asked: Asked, answer: Promise<RateLimitLease>): void {
    this.#asked.push(asked);
    const told = answer.then((lease) => {
      if (asked.isSure && this.#where.isPatient) expect(lease.getMetadata('REASON_PHRASE')).toBe(undefined);
      asked.lease = lease;
      asked.isOver = !lease.isAcquired;
    });
    // Its failure is thrown at the end.
    told.catch(() => undefined);
    this.#answers.push(told);
  }

  #giveBack(which: number): void {
    const held = this.#held();
    if (held.length > 0) this.#end(held[which % held.length]!);
  }

  #end(asked: Asked): void {
    asked.isOver = true;
    asked.lease!.dispose();
  }
}
