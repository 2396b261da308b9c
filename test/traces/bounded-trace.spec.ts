import * as fc from 'fast-check';
import { boundedTrace } from './bounded-trace.js';

const never = new Promise<void>(() => undefined);

test('a trace that locks up is reported with its seed, and no other runs after it', async () => {
  const traces: number[][] = [];
  const property = fc.asyncProperty(
    fc.array(fc.nat(), { minLength: 1 }),
    boundedTrace(async (trace) => {
      traces.push(trace);
      if (traces.length === 3) await never;
    }, 5),
  );
  const { failed, seed, counterexample, numRuns, errorInstance } = await fc.check(property);
  expect(failed).toBe(true);
  expect(counterexample).toEqual([traces[2]]);
  expect([numRuns, traces.length]).toEqual([3, 3]);
  expect((errorInstance as Error).message).toBe('The trace has not ended within 5 ms: it is locked up.');
  await expect(fc.assert(property, { seed })).rejects.toThrow(`seed: ${seed}`);
});

test('of one that fails by itself a lesser one is looked for', async () => {
  const property = fc.asyncProperty(
    fc.nat({ max: 1_000 }),
    boundedTrace(async (number) => {
      await Promise.resolve();
      expect(number).toBeLessThan(10);
    }),
  );
  const { counterexample } = await fc.check(property);
  expect(counterexample).toEqual([10]);
});
