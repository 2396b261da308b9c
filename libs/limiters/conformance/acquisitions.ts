import type { RateLimitLease } from '../src/index.js';
import { checkError, checkLease, Mismatch, same } from './expectations.js';
import type { Expectation, Step } from './scenario.js';
import type { Outcome, Subject, World } from './world.js';
import { settle } from './world.js';

/** The arguments of a call: the resource and the permits, where the step has them. */
export function callArguments(step: Step, world: World): unknown[] {
  const given: unknown[] = [];
  if ('resource' in step) given.push(world.values.decode(step.resource));
  if ('permits' in step) given.push(world.values.decode(step.permits));
  return given;
}

export function attemptAcquire(step: Step, limiter: Subject, world: World): void {
  const lease = expectingErrors(step, () => limiter.attemptAcquire(...callArguments(step, world)));
  if (lease === undefined) return;
  checkLease(lease, step.expect ?? {});
  if (step.as !== undefined) world.outcomes.set(step.as, { status: 'fulfilled', lease });
}

/** Asks, lets everything settle, and looks at what has come of it by then. */
export async function acquire(step: Step, limiter: Subject, world: World): Promise<void> {
  const abort = new AbortController();
  if (step.signal === 'aborted') abort.abort(new Error('aborted before'));
  const outcome: Outcome = { status: 'pending', abort };
  follow(limiter.acquire(...acquireArguments(step, abort, world)), outcome, step.as, world);
  if (step.as !== undefined) world.outcomes.set(step.as, outcome);
  await settle();
  if (step.expect !== undefined) checkOutcome(outcome, step.expect);
}

export function checkOutcome(outcome: Outcome, expected: Expectation): void {
  let status: Outcome['status'] = expected.throws === undefined ? 'fulfilled' : 'rejected';
  if (expected.pending === true) status = 'pending';
  if (status === 'fulfilled' && outcome.status === 'rejected') throw outcome.error;
  same('status', status, outcome.status);
  if (status === 'rejected') checkError(outcome.error, expected, outcome.abort?.signal.reason);
  if (status === 'fulfilled') checkLease(leaseOf(outcome), expected);
}

export function leaseOf(outcome: Outcome): RateLimitLease {
  if (outcome.lease === undefined) throw new Mismatch(`expected a lease, but it is ${outcome.status}`);
  return outcome.lease;
}

/** Calls; an error must be the one that the step expects, and must come if it does. */
export function expectingErrors<T>(step: Step, call: () => T): T | undefined {
  let value: T;
  try {
    value = call();
  } catch (error) {
    if (step.expect?.throws === undefined) throw error;
    checkError(error, step.expect);
    return undefined;
  }
  if (step.expect?.throws !== undefined) {
    throw new Mismatch(`expected to throw ${step.expect.throws}, but it did not`);
  }
  return value;
}

function acquireArguments(step: Step, abort: AbortController, world: World): unknown[] {
  const given = callArguments(step, world);
  if (step.signal === 'none') return given;
  if (!('permits' in step)) given.push(1);
  return [...given, { signal: abort.signal }];
}

function follow(
  promise: Promise<RateLimitLease>,
  outcome: Outcome,
  name: string | undefined,
  world: World,
): void {
  promise.then(
    (lease) => {
      Object.assign(outcome, { status: 'fulfilled', lease });
      if (name !== undefined) world.settled.push(name);
    },
    (error: unknown) => {
      Object.assign(outcome, { status: 'rejected', error });
      if (name !== undefined) world.settled.push(name);
    },
  );
}
