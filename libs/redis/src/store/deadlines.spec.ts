import { Deadlines } from './deadlines.js';
import type { Watching } from './deadlines.js';

const TIMEOUT_MS = 100;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

class Asked {
  readonly deadlineMs = performance.now() + TIMEOUT_MS;
  isSettled = false;
  readonly #watching: Watching;
  readonly #onExpired: () => void;

  constructor(deadlines: Deadlines, onExpired: () => void) {
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

test('no timer is left where the end of one wait ends those that follow, as the loss of a store does', () => {
  const deadlines = new Deadlines((start) => start());
  const told: string[] = [];
  const first = new Asked(deadlines, () => {
    told.push('first');
    second.settle();
  });
  jest.advanceTimersByTime(TIMEOUT_MS / 2);
  const second = new Asked(deadlines, () => void told.push('second'));
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(TIMEOUT_MS / 2);
  expect([told, first.isSettled]).toEqual([['first'], true]);
  expect(jest.getTimerCount()).toBe(0);
});
