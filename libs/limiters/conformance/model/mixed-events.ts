import * as fc from 'fast-check';
import { anySetup, KINDS } from './limiter-setups.js';

export const SESSIONS = 3;

const anyLimit = fc.constantFrom(1, 2, 2, 2, 3);

/** The limiters of a {@link MixedTrial}, and its chains. */
export const anyMixedSetup = fc.record({
  /** Of the reference limiter, of the one by a helper, of the one made by hand, of that of another maker. */
  limits: fc.tuple(fc.integer({ min: 2, max: 4 }), anyLimit, anyLimit, anyLimit),
  kinds: fc.tuple(fc.constantFrom(...KINDS), fc.constantFrom(...KINDS)),
  setup: anySetup,
  /** What each chain is made of, by its index in the pool. */
  chains: fc.array(fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 2, maxLength: 4 }), {
    minLength: 2,
    maxLength: 3,
  }),
  /** What stands before the limiter of another maker: who waits for that one keeps what it has of this one. */
  beforeForeign: fc.nat({ max: 4 }),
});

/** The numbers of one trial. */
export type MixedSetup = typeof anyMixedSetup extends fc.Arbitrary<infer T> ? T : never;

const pick = fc.nat({ max: 99 });

const anyRequest = fc.record({
  do: fc.constantFrom('attempt' as const, 'acquire' as const, 'acquire' as const, 'acquire' as const),
  pick,
  /** One more: no session's. */
  session: fc.nat({ max: SESSIONS }),
  permits: fc.constantFrom(1, 1, 1, 1, 2, 0),
  maxWaitMs: fc.constantFrom(Infinity, Infinity, Infinity, Infinity, Infinity, Infinity, 30, 3, 0),
});

const anyEnd = fc.record({
  do: fc.constantFrom(
    'abort' as const,
    'disposeLease' as const,
    'disposeLease' as const,
    'disposeLease' as const,
    'disposeLease' as const,
    'endSession' as const,
  ),
  pick,
});

const anyChange = fc.record({
  do: fc.constantFrom('refresh' as const, 'update' as const, 'reset' as const),
  pick,
  limit: fc.integer({ min: 1, max: 4 }),
});

const anySudden = fc.oneof(
  { weight: 5, arbitrary: anyRequest },
  { weight: 5, arbitrary: anyEnd },
  { weight: 3, arbitrary: anyChange },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('disposeChain' as const), pick }) },
);

const anyEvent = fc.oneof(
  { weight: 12, arbitrary: anyRequest },
  { weight: 10, arbitrary: anyEnd },
  { weight: 1, arbitrary: anyChange },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(-5, 0, 1, 1, 1, 1, 1, 2, 3, 5, 8, 130),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
  // What makes a request go on by reserving.
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('passOver' as const), session: fc.nat({ max: SESSIONS }) }),
  },
  // Happens in the midst of what asks a store.
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('meanwhile' as const), event: anySudden }),
  },
);

/** Something that can happen at once. */
export type SuddenEvent = typeof anySudden extends fc.Arbitrary<infer T> ? T : never;
/** Something that can happen in a trial. */
export type MixedEvent = typeof anyEvent extends fc.Arbitrary<infer T> ? T : never;

export const anyMixedTrace = fc.array(anyEvent, { minLength: 60, maxLength: 160, size: 'max' });
