import { setImmediate } from 'node:timers';
import { Deadlines } from './deadlines.js';
import type { Watching } from './deadlines.js';

const TIMEOUT_MS = 100;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

class Asked {
  readonly deadlineMs = performance.now() + TIMEOUT_MS;
  isSettled = false;
  readonly isSent: boolean;
  readonly #watching: Watching;
  readonly #onExpired: () => void;

  constructor(deadlines: Deadlines, isSent: boolean, onExpired: () => void) {
    this.isSent = isSent;
    this.#onExpired = onExpired;
    this.#watching = deadlines.watch(this, TIMEOUT_MS);
  }

  expire(): void {
    this.settle();
    this.#onExpired();
  }

  settle(): void {
    this.isSettled = true;
    this.#watching.settled();
  }
}

test.each([
  ['was not sent', false],
  ['was sent', true],
])('no timer is left where the end of one wait, which %s, ends those that follow', async (_what, isSent) => {
  const deadlines = new Deadlines((start) => start());
  const told: string[] = [];
  const first = new Asked(deadlines, isSent, () => {
    told.push('first');
    second.settle();
  });
  jest.advanceTimersByTime(TIMEOUT_MS / 2);
  const second = new Asked(deadlines, isSent, () => void told.push('second'));
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(TIMEOUT_MS / 2);
  // What was sent ends with the immediates.
  expect(first.isSettled).toBe(!isSent);
  await new Promise(setImmediate);
  expect([told, first.isSettled]).toEqual([['first'], true]);
  expect(jest.getTimerCount()).toBe(0);
});

test('a wait that begins before those that were sent have ended does not put off the ends of others', async () => {
  const deadlines = new Deadlines((start) => start());
  const told: string[] = [];
  const asked = (name: string): Asked => new Asked(deadlines, true, () => void told.push(name));
  asked('first');
  jest.advanceTimersByTime(10);
  asked('second');
  jest.advanceTimersByTime(TIMEOUT_MS - 10);
  // Between the timers of a turn and its immediates.
  asked('third');
  await new Promise(setImmediate);
  jest.advanceTimersByTime(10);
  await new Promise(setImmediate);
  expect(told).toEqual(['first', 'second']);
  jest.advanceTimersByTime(TIMEOUT_MS - 10);
  await new Promise(setImmediate);
  expect([told, jest.getTimerCount()]).toEqual([['first', 'second', 'third'], 0]);
});
