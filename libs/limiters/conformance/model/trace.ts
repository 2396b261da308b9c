import * as fc from 'fast-check';

/** One thing that can happen to a limiter. A `pick` chooses among what is there, however many that are. */
export type Command =
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'attempt'; readonly permits: number }
  | { readonly do: 'acquire'; readonly permits: number }
  | { readonly do: 'abort'; readonly pick: number }
  | { readonly do: 'disposeLease'; readonly pick: number };

const picks = fc.nat({ max: 99 });
const anyPermits = fc.integer({ min: 0, max: 8 });

/** Commands; those that take time more often take little. */
export const anyCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('attempt' as const), permits: anyPermits }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('acquire' as const), permits: anyPermits }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 10, max: 90 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), pick: picks }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('disposeLease' as const), pick: picks }) },
);

export const anyTrace: fc.Arbitrary<Command[]> = fc.array(anyCommand, {
  minLength: 1,
  maxLength: 40,
  size: 'max',
});

/** The one that a `pick` means, or nothing where there is nothing to choose from. */
export function picked<T>(items: readonly T[], pick: number): T | undefined {
  return items.length === 0 ? undefined : items[pick % items.length];
}

/** Lets what was promised settle; no promise of these limiters needs more than a few turns, those of linked chains more. */
export async function settle(turns = 5): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop -- one turn after the other
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
}
