import * as fc from 'fast-check';
import type { Member } from './chain-trial.js';
import { anyBusyTrace, anyScarceMembers } from './chain-trial.js';
import type { LimitChange } from './changing-trial.js';
import { ChangingTrial } from './changing-trial.js';
import { anyReservingMembers } from './reserving-trial.js';

const anyChange: fc.Arbitrary<LimitChange> = fc.record({
  do: fc.constantFrom('change' as const, 'change' as const, 'change' as const, 'reset' as const),
  target: fc.nat({ max: 9 }),
  limit: fc.integer({ min: 1, max: 4 }),
});

/** Often among the first: by then what has been set aside is there. */
const anyPlace = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 149 }));

/** What is asked and given back, with changes in between. */
const anyChangingTrace = fc
  .tuple(anyBusyTrace, fc.array(fc.tuple(anyPlace, anyChange), { maxLength: 20 }))
  .map(([trace, changes]) => {
    const commands: ((typeof trace)[number] | LimitChange)[] = [...trace];
    for (const [at, change] of changes) commands.splice(at % (commands.length + 1), 0, change);
    return commands;
  });

describe('limits that change, and limiters that are reset, while chains wait and reserve', () => {
  it.each([
    {
      begun: 'a request reserves',
      anyMembers: anyReservingMembers as fc.Arbitrary<readonly Member[]>,
      isReserving: true,
    },
    { begun: 'nobody waits yet', anyMembers: anyScarceMembers, isReserving: false },
  ])('are kept to, strand nobody and lose nothing ($begun)', async ({ anyMembers, isReserving }) => {
    await fc.assert(
      fc.asyncProperty(anyMembers, anyChangingTrace, async (members, trace) => {
        const trial = new ChangingTrial(members);
        if (isReserving) await trial.begin();
        trial.expectWithinLimits();
        for (const command of trace) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await trial.play(command);
          trial.expectWithinLimits();
        }
        await trial.drain();
        expect(trial.watch.waiting).toEqual([]);
        await trial.watch.advance(500);
        trial.expectAllBack();
      }),
      { numRuns: 100 },
    );
  });
});
