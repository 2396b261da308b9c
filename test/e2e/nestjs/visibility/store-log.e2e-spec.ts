import { Controller, Get, Logger } from '@nestjs/common';
import { createPartitionedRateLimiter, RateLimitPartition } from '@ratelease/limiters';
import {
  ConcurrencyLimit,
  EnableRateLimiting,
  RateLimitingModule,
  SelectiveRateLimiterPolicy,
} from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const shared = { algorithm: 'fixedWindow', permitLimit: 9, windowMs: 60_000 } as const;
const STORE = Symbol.for('ratelease.store');

@Controller()
class PlacesController {
  @Get('chosen')
  @EnableRateLimiting('chosen')
  @ConcurrencyLimit(1, { when: () => false })
  chosen(): string {
    return 'chosen';
  }

  @Get('stored')
  @EnableRateLimiting('stored')
  stored(): string {
    return 'stored';
  }
}

/** Nest writes lines of its own. */
const lines = (log: jest.SpyInstance): string[] =>
  log.mock.calls
    .map(([line]) => String(line))
    .filter((line) => line.includes(' count') || line.startsWith('Counted'));

describe('the log says where policies count', () => {
  afterEach(async () => {
    await stopApps();
    jest.restoreAllMocks();
  });

  it('at the boot, and at the first request of those whose partitions know it, once', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    const partition = RateLimitPartition.getFixedWindowLimiter('all', () => shared);
    let isStaff = true;
    const app = await startApp(PLATFORMS[0]!, {
      imports: [
        RateLimitingModule.forRoot({
          global: shared,
          policies: {
            burst: shared,
            chosen: () => (isStaff ? RateLimitPartition.getNoLimiter('staff') : partition),
            stored: () => ({ ...RateLimitPartition.get('all', partition.factory), [STORE]: 'in a box' }),
            given: new SelectiveRateLimiterPolicy(createPartitionedRateLimiter(() => partition)),
          },
        }),
      ],
      controllers: [PlacesController],
    });
    expect(lines(log)).toEqual([
      'Counted in this process: global, burst, PlacesController.chosen.',
      'Counted where their partitions say, which the first request of each tells: chosen, stored.',
      'Counted by limiters that were handed in: given.',
    ]);
    log.mockClear();
    await app.get('/chosen');
    expect(lines(log)).toEqual([]);
    isStaff = false;
    await app.statuses('/chosen', 2);
    await app.statuses('/stored', 2);
    expect(lines(log)).toEqual([
      'Policy "chosen" counts in this process.',
      'Policy "stored" counts in a box.',
    ]);
  });

  it('not at all where there are none', async () => {
    const log = jest.spyOn(Logger.prototype, 'log').mockImplementation();
    await startApp(PLATFORMS[0]!, { imports: [RateLimitingModule.forRoot()] });
    expect(lines(log)).toEqual([]);
  });
});
