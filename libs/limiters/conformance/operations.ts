import { ReplenishingRateLimiter } from '../src/index.js';
import type { RateLimiter } from '../src/index.js';
import {
  acquire,
  attemptAcquire,
  callArguments,
  checkOutcome,
  expectingErrors,
  leaseOf,
} from './acquisitions.js';
import { checkLease, checkStatistics, Mismatch, same } from './expectations.js';
import type { FakeControl } from './fakes.js';
import type { Expectation, Step } from './scenario.js';
import type { Subject, World } from './world.js';

type Operation = (step: Step, limiter: Subject, world: World, expected: Expectation) => void | Promise<void>;

/** What the steps of a scenario can do. `construct` and `repeat` belong to the runner. */
export const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>(
  Object.entries({
    attemptAcquire,
    acquire,
    settled: (step, _limiter, world, expected) => checkOutcome(world.outcome(step.of), expected),
    pending: (step, _limiter, world) => same(step.of ?? '', 'pending', world.outcome(step.of).status),
    settleOrder(_step, _limiter, world, { order = [] }) {
      same(
        'order',
        order,
        world.settled.filter((name) => order.includes(name)),
      );
    },
    cancel: (step, _limiter, world) =>
      world.outcome(step.of).abort?.abort(new Error(`${step.of} was cancelled`)),
    lease: (step, _limiter, world, expected) => checkLease(leaseOf(world.outcome(step.of)), expected),
    disposeLease(step, _limiter, world) {
      const lease = leaseOf(world.outcome(step.of));
      expectingErrors(step, () => lease.dispose());
    },
    dispose: (step, limiter) => expectingErrors(step, () => limiter.dispose()),
    advance(step, _limiter, world) {
      if (step.fireTimers === false) world.clock.skip(step.ms ?? 0);
      else world.clock.advance(step.ms ?? 0);
    },
    timers: (_step, _limiter, world, { pending }) => same('timers', pending, world.clock.pendingTimers),
    tryReplenish(step, limiter, _world, { returns }) {
      const applied = expectingErrors(step, () => limiter.tryReplenish());
      if (returns !== undefined) same('tryReplenish', returns, applied);
    },
    statistics(step, limiter, world, expected) {
      const statistics = expectingErrors(step, () => limiter.getStatistics(...callArguments(step, world)));
      if (statistics !== undefined) checkStatistics(statistics, expected);
    },
    idleDuration(_step, limiter, _world, { isNull, ms }) {
      const idle = limiter.idleDurationMs;
      if (isNull !== undefined) same('idle duration is null', isNull, idle === null);
      if (ms !== undefined) same('idle duration', ms, idle);
    },
    properties(_step, limiter, _world, expected) {
      for (const [name, value] of Object.entries(expected)) same(name, value, property(limiter, name));
    },
    set: (step, limiter, world) => void Object.assign(fakeOf(limiter, world).script, step.options),
    fakeCounts(_step, limiter, world, expected) {
      const { counts } = fakeOf(limiter, world);
      for (const [name, value] of Object.entries(expected))
        checkCount(name, value, counts[name as 'attempt']);
    },
    leaseDisposeOrder: (_step, _limiter, world, { order }) => same('order', order, world.leaseDisposals),
    seen(_step, _limiter, world, { permits, resources }) {
      if (permits !== undefined) same('permits', permits, world.seenPermits);
      if (resources !== undefined) same('resources', resources, world.seenResources);
    },
    counts(_step, _limiter, world, { partitioner, translate, factory = {} }) {
      if (partitioner !== undefined) same('partitioner calls', partitioner, world.partitionerCalls);
      if (translate !== undefined) same('translations', translate, world.translations);
      for (const [label, calls] of Object.entries(factory)) {
        same(`factory calls for ${label}`, calls, world.factoryCalls.get(label) ?? 0);
      }
    },
  } satisfies Record<string, Operation>),
);

function property(limiter: Subject, name: string): unknown {
  if (name === 'isReplenishing') return limiter instanceof ReplenishingRateLimiter;
  return (limiter as unknown as RateLimiter)[name as 'isAutoReplenishing'];
}

function fakeOf(limiter: Subject, world: World): FakeControl {
  const control = world.fakes.get(limiter);
  if (control === undefined) throw new Mismatch('expected a fake limiter');
  return control;
}

/** @param expected - the number of calls, or `{ min }` where there may be more. */
function checkCount(name: string, expected: unknown, actual: number): void {
  if (typeof expected === 'number') return same(name, expected, actual);
  const { min } = expected as { min: number };
  if (actual < min) throw new Mismatch(`${name}: expected at least ${min}, got ${actual}`);
}
