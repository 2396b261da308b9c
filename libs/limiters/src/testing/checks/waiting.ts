import type { Progress, Trial } from '../conformance-check.js';
import { describe, follow, settle, verify } from '../conformance-check.js';
import type { Try } from './arguments.js';

/** A request that has to wait. */
async function wait(trial: Trial, permits: number, signal?: AbortSignal): Promise<Progress> {
  const progress = await follow(trial.limiter.acquire(permits, { signal }));
  verify(!progress.isSettled, `acquire(${permits}) did not wait although the queue had room`);
  return progress;
}

interface WatchedSignal {
  readonly signal: AbortSignal;
  readonly abort: (reason: unknown) => void;
  readonly listeners: () => number;
}

/** A signal that counts its listeners. */
function watchedSignal(): WatchedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners = new Set<unknown>();
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (type: 'abort', listener: never, options?: never) => {
    listeners.add(listener);
    add(type, listener, options);
  };
  signal.removeEventListener = (type: 'abort', listener: never) => {
    listeners.delete(listener);
    remove(type, listener);
  };
  return { signal, abort: (reason) => controller.abort(reason), listeners: () => listeners.size };
}

/** What a limiter does with requests that wait. */
export const waitingChecks: Readonly<Record<string, Try>> = {
  async 'serves who waits once permits are back'(trial) {
    trial.exhaust();
    const waiter = await wait(trial, 1);
    await trial.giveBack();
    verify(waiter.lease?.isAcquired === true, 'permits came back, and the waiter was not served');
  },

  async 'serves waiters in the order they came'(trial) {
    trial.exhaust();
    const order: number[] = [];
    const first = trial.limiter.acquire(trial.limit - 1).then((lease) => (order.push(1), lease));
    const second = trial.limiter.acquire(1).then((lease) => (order.push(2), lease));
    const all = Promise.all([first, second]);
    await settle();
    await trial.giveBack();
    verify(order.join() === '1,2', `the waiters were served in the order ${order.join() || '(nobody)'}`);
    await all;
  },

  async 'lets nobody overtake who waits'(trial) {
    if (trial.limit < 2) return;
    trial.take(trial.limit - 1);
    await wait(trial, 2);
    verify(!trial.limiter.attemptAcquire(1).isAcquired, 'a newcomer took a permit that a waiter needs');
  },

  async 'rejects a waiter with the reason of its signal, and forgets it'(trial) {
    trial.exhaust();
    const { signal, abort, listeners } = watchedSignal();
    const waiter = await wait(trial, trial.limit, signal);
    const reason = new Error('the caller has left');
    abort(reason);
    await settle();
    verify(
      waiter.error === reason,
      `the waiter must reject with the signal's reason: ${describe(waiter.error)}`,
    );
    verify(listeners() === 0, 'a listener was left on the signal');
    await trial.giveBack();
    verify(trial.takeSingles() === trial.limit, 'an aborted waiter took permits, or still stands in the way');
  },

  async 'goes on to the next when the first in the queue aborts'(trial) {
    trial.take(trial.limit - 1);
    const { signal, abort } = watchedSignal();
    await wait(trial, 2, signal);
    const next = await wait(trial, 1);
    abort(new Error('the caller has left'));
    await settle();
    verify(next.lease?.isAcquired === true, 'the waiter behind an aborted one was not looked at');
  },

  async 'leaves no listener on the signal of a request that was served'(trial) {
    const { signal, listeners } = watchedSignal();
    await follow(trial.limiter.acquire(1, { signal }));
    verify(listeners() === 0, 'a request that did not wait left a listener');
    await trial.giveBack();
    trial.takeSingles();
    await wait(trial, 1, signal);
    await trial.giveBack();
    verify(listeners() === 0, 'a request that was served left a listener');
  },

  async 'does nothing when a signal aborts after the grant'(trial) {
    const { signal, abort } = watchedSignal();
    const { lease } = await follow(trial.limiter.acquire(1, { signal }));
    abort(new Error('too late'));
    await settle();
    verify(lease?.isAcquired === true, 'the lease did not survive a late abort');
    verify(trial.takeSingles() === trial.limit - 1, 'a late abort gave permits back');
  },

  async 'refuses a request that has no time to wait'(trial) {
    trial.exhaust();
    const request = await follow(trial.limiter.acquire(1, { maxWaitMs: 0 }));
    await settle();
    verify(request.isSettled, 'a request with maxWaitMs 0 waits');
    verify(request.lease?.isAcquired === false, `it must resolve refused: ${describe(request.error)}`);
  },

  async 'resolves its waiters refused when it ends'(trial) {
    trial.exhaust();
    const waiters = [await wait(trial, 1), await wait(trial, 1)];
    trial.limiter.dispose();
    await settle();
    for (const { lease, error } of waiters) {
      verify(lease?.isAcquired === false, `a waiter must resolve refused: ${describe(error)}`);
    }
    verify(trial.clock.pendingTimers === 0, 'a timer was left behind');
  },
};
