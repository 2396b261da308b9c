import { setImmediate } from 'node:timers';
import { Deadlines } from './deadlines.js';
import type { Watching } from './deadlines.js';

const TIMEOUT_MS = 100;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

class Asked {
  readonly deadlineMs = performance.now() + TIMEOUT_MS;
  isSettled = false;
  readonly isUnderway: boolean;
  readonly #watching: Watching;
  readonly #onExpired: () => void;

  constructor(deadlines: Deadlines, isUnderway: boolean, onExpired: () => void) {
    this.isUnderway = isUnderway;
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
  ['is not underway', false],
  ['is underway', true],
])(
  'no timer is left where the end of one wait, which %s, ends those that follow',
  async (_what, isUnderway) => {
    const deadlines = new Deadlines((start) => start());
    const told: string[] = [];
    const first = new Asked(deadlines, isUnderway, () => {
      told.push('first');
      second.settle();
    });
    jest.advanceTimersByTime(TIMEOUT_MS / 2);
    const second = new Asked(deadlines, isUnderway, () => void told.push('second'));
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(TIMEOUT_MS / 2);
    // What is underway ends with the immediates.
    expect(first.isSettled).toBe(!isUnderway);
    await new Promise(setImmediate);
    expect([told, first.isSettled]).toEqual([['first'], true]);
    expect(jest.getTimerCount()).toBe(0);
  },
);

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
