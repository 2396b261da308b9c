import { ServerClock } from './server-clock.js';

test('of one server the time is what it told last', () => {
  const clock = new ServerClock(false);
  expect(clock.at(5)).toBe(0);
  clock.learn(100, 2_100_000);
  expect(clock.at(150)).toBe(2_150_000);
  clock.learn(200, 1_200_000);
  expect(clock.at(250)).toBe(1_250_000);
});

test('of several servers whose clocks differ none finds a command late that another one would find in time', () => {
  const clock = new ServerClock(true);
  expect(clock.at(5)).toBe(0);
  for (let sentMs = 0; sentMs < 60_000; sentMs += 1_000) {
    // One is two seconds ahead, and asked now and then.
    if (sentMs % 8_000 === 0) clock.learn(sentMs, (sentMs + 2_000) * 1_000);
    clock.learn(sentMs, sentMs * 1_000);
    expect(clock.at(sentMs)).toBe((sentMs + 2_000) * 1_000);
  }
  // Once it is corrected, the others count.
  clock.learn(90_000, 90_000_000);
  clock.learn(101_000, 101_000_000);
  expect(clock.at(101_000)).toBe(101_000_000);
});

test('as a text it is a whole millisecond, never before the moment itself, also after the server’s time has moved', () => {
  const clock = new ServerClock(false);
  expect(Number(clock.textAt(5))).toBe(0);
  for (const serverUs of [2_100_000, 2_100_400, 2_100_400, 1_764_502_000_123_456, 900_001]) {
    clock.learn(100, serverUs);
    for (const localMs of [100, 100.2, 100.9999, 101, 350]) {
      const text = clock.textAt(localMs);
      expect(text).toMatch(/^\d+000$/);
      expect(Number(text) - clock.at(localMs)).toBeGreaterThanOrEqual(0);
      expect(Number(text) - clock.at(localMs)).toBeLessThan(1_000);
    }
  }
});
