import * as fc from 'fast-check';
import type { Life, LifeSetup } from './life.js';
import { anyLife, anyLifeSetup, LifeTrial } from './life.js';

async function live(setup: LifeSetup, life: Life, passedOver = 0): Promise<void> {
  const trial = new LifeTrial(setup);
  if (passedOver > 0) await trial.passOver(passedOver);
  for (const event of life) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await trial.run(event);
    trial.expectAtMostTheLimit();
  }
  await trial.endEverything();
  trial.expectEverythingBack();
  expect(await trial.waitForEver()).toEqual([]);
}

describe.each(['alone', 'in a chain', 'both'] as const)('sessions whose requests come %s', (how) => {
  it('hold at most what the group may at every instant, and give everything back', async () => {
    await fc.assert(
      fc.asyncProperty(anyLifeSetup, anyLife, async (setup, life) => live({ ...setup, how }, life)),
      { numRuns: 100 },
    );
  });
});

describe('sessions whose requests are passed over at their turns until they reserve', () => {
  it('hold at most what the group may at every instant, and give everything back', async () => {
    await fc.assert(
      fc.asyncProperty(anyLifeSetup, fc.integer({ min: 1, max: 3 }), anyLife, async (any, requests, life) => {
        const setup = { ...any, permitLimit: 1, all: 1, queueLimit: 40, allQueueLimit: 40 } as const;
        await live({ ...setup, isNewestFirst: false, how: 'both' }, life, requests);
      }),
      { numRuns: 70 },
    );
  });
});

describe('sessions whose requests need a permit of the reference limiter each, besides that of the session', () => {
  async function liveInPeace(setup: LifeSetup, life: Life, passedOver = 0): Promise<void> {
    const trial = new LifeTrial({ ...setup, how: 'with the reference limiter' });
    if (passedOver > 0) await trial.passOver(passedOver);
    for (const event of life) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await trial.run(event);
      trial.expectAtMostTheLimit();
    }
    await trial.expectNobodyToHoldWhileWaiting();
    await trial.endEverything();
    trial.expectEverythingBack();
    expect(await trial.waitForEver()).toEqual([]);
  }

  it('never wait for each other, and hold at most what the group may', async () => {
    await fc.assert(
      fc.asyncProperty(anyLifeSetup, anyLife, async (setup, life) =>
        liveInPeace({ ...setup, permitLimit: setup.permitLimit + 1 }, life),
      ),
      { numRuns: 100 },
    );
  });

  it('nor when they are passed over at their turns until they reserve', async () => {
    await fc.assert(
      fc.asyncProperty(anyLifeSetup, fc.integer({ min: 1, max: 3 }), anyLife, async (any, requests, life) => {
        const setup = { ...any, permitLimit: 2, all: 1, queueLimit: 40, allQueueLimit: 40 };
        await liveInPeace({ ...setup, isNewestFirst: false }, life, requests);
      }),
      { numRuns: 70 },
    );
  });
});
