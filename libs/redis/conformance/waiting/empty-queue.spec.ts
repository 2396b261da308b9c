import { FakeClock } from '@ratelease/limiters/testing';
import { RateQueue, Ticket } from '../../src/waiting/rate-queue.js';

describe('a queue in which nobody stands says so', () => {
  let idle: number;
  let queue: RateQueue;
  beforeEach(() => {
    idle = 0;
    queue = new RateQueue(new FakeClock(), false, () => idle++);
  });
  const ticket = (permits: number): Ticket => new Ticket(permits, 'lane', 1, () => undefined);

  test('once the last has left', () => {
    const only = ticket(1);
    queue.enter(only, 1);
    expect(idle).toBe(0);
    queue.leave(only);
    expect(idle).toBe(1);
  });

  test('where it lets the first one not in', () => {
    expect(queue.enter(ticket(2), 1)).toBe(false);
    expect(idle).toBe(1);
  });

  test('not where others stand in it', () => {
    queue.enter(ticket(1), 1);
    expect(queue.enter(ticket(1), 1)).toBe(false);
    expect(idle).toBe(0);
  });
});
