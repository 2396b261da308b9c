import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { TranspiledPackage } from './transpiled-package.js';

/** Limiters without a clock of their own, under the timers of `node:test`; prints what has happened when. */
const PROGRAM = `
  const { mock } = require('node:test');
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const older = new limiters.FixedWindowRateLimiter({ permitLimit: 1, windowMs: 30_000 });
  older.attemptAcquire();
  mock.timers.enable({ apis });
  const seen = {};
  const note = (name) => (lease) => (seen[name] = lease.isAcquired ? 'granted' : lease.getMetadata('REASON_PHRASE'));
  const window = new limiters.FixedWindowRateLimiter({ permitLimit: 1, windowMs: 60_000, queueLimit: 1 });
  window.attemptAcquire();
  window.acquire().then(note('waiting'));
  const running = new limiters.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
  running.attemptAcquire();
  running.acquire(1, { maxWaitMs: 500 }).then(note('bounded'));
  const partitions = limiters.createPartitionedRateLimiter((key) =>
    limiters.RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })));
  partitions.attemptAcquire('a').dispose();
  const all = [];
  const look = async () => {
    await settle();
    const isOlderFree = older.getStatistics().currentAvailablePermits === 1;
    all.push({ ...seen, partitions: partitions.partitionCount, isOlderFree });
  };
  (async () => {
    for (const ms of [499, 1, 59_499, 1]) {
      mock.timers.tick(ms);
      await look();
    }
    console.log(JSON.stringify(all));
    process.exit();
  })();`;

describe('limiters without a clock of their own, under the mocked timers of node:test', () => {
  const transpiled = new TranspiledPackage();

  afterAll(() => transpiled.remove());

  async function run(apis: readonly string[] | undefined): Promise<unknown> {
    const script = `const limiters = require(${JSON.stringify(transpiled.main)});
      const apis = ${JSON.stringify(apis)};
      ${PROGRAM}`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 120_000 });
    return JSON.parse(stdout);
  }

  it('follow them where dates are mocked too, though performance isn’t', async () => {
    const bounded = 'Wait limit reached';
    expect(await run(['setTimeout', 'Date'])).toEqual([
      { partitions: 1, isOlderFree: false },
      { bounded, partitions: 1, isOlderFree: false },
      { bounded, partitions: 0, isOlderFree: true },
      { bounded, waiting: 'granted', partitions: 0, isOlderFree: true },
    ]);
  });

  it.each([['setTimeout'], ['Date']])('stay in real time where only %s is mocked', async (api) => {
    const asBefore = { partitions: 1, isOlderFree: false };
    expect(await run([api])).toEqual([asBefore, asBefore, asBefore, asBefore]);
  });
});
