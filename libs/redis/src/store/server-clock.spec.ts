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
