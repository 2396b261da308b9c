import { execFile } from 'node:child_process';
import { TranspiledPackage } from './transpiled-package.js';

/** Far beyond what any of these programs needs, and far below the windows that they use. */
const LONGEST_RUN_MS = 120_000;

interface Ended {
  /** What the program printed. */
  readonly printed: string[];
  readonly stderr: string;
  /** How many milliseconds the program lived on after its last word. */
  readonly lingeredMs: number;
}

describe('a process that uses limiters', () => {
  const transpiled = new TranspiledPackage();

  afterAll(() => transpiled.remove());

  /** Runs a program until it ends by itself; one that doesn't fails the test. */
  function run(program: string): Promise<Ended> {
    const script = `
      const limiters = require(${JSON.stringify(transpiled.main)});
      let last = performance.now();
      const print = (text) => { last = performance.now(); console.log(text); };
      process.on('exit', () => console.error('lingered ' + (performance.now() - last)));
      ${program}`;
    return new Promise((resolve, reject) => {
      const options = { timeout: LONGEST_RUN_MS };
      execFile(process.execPath, ['-e', script], options, (error, stdout, stderr) => {
        if (error !== null) return reject(new Error(stderr, { cause: error }));
        const lingeredMs = Number(/lingered (.*)/.exec(stderr)?.[1]);
        resolve({ printed: stdout.split('\n').filter(Boolean), stderr, lingeredMs });
      });
    });
  }

  it('ends by itself, whatever it has used and not disposed', async () => {
    const { printed, lingeredMs } = await run(`
      const hour = 3_600_000;
      const rate = { permitLimit: 1, windowMs: hour, queueLimit: 1 };
      const all = [
        new limiters.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 }),
        new limiters.FixedWindowRateLimiter(rate),
        new limiters.SlidingWindowRateLimiter({ ...rate, segmentsPerWindow: 10 }),
        new limiters.TokenBucketRateLimiter({ tokenLimit: 1, tokensPerPeriod: 1, replenishmentPeriodMs: hour }),
      ];
      all.push(limiters.createChainedRateLimiter(all[0], all[1]));
      for (const limiter of all) { limiter.attemptAcquire(); limiter.attemptAcquire(); }
      const partitions = [
        (key) => limiters.RateLimitPartition.getFixedWindowLimiter(key, () => rate),
        (key) => limiters.RateLimitPartition.getNoLimiter(key),
        (key) => limiters.RateLimitPartition.getFixedWindowLimiter(key, () => ({ ...rate, autoReplenishment: false })),
        (key) => limiters.RateLimitPartition.get(key, () => new limiters.ConcurrencyLimiter({ permitLimit: 1 })),
      ].map((partitioner) => limiters.createPartitionedRateLimiter(partitioner));
      for (const limiter of partitions) for (let key = 0; key < 100; key++) limiter.attemptAcquire(key);
      print('done');`);
    expect(printed).toEqual(['done']);
    expect(lingeredMs).toBeLessThan(5_000);
  });

  it('stays alive for a waiter that time will serve, and no longer', async () => {
    const { printed, lingeredMs } = await run(`
      const limiter = new limiters.FixedWindowRateLimiter({ permitLimit: 1, windowMs: 80, queueLimit: 1 });
      limiter.attemptAcquire();
      limiter.acquire().then((lease) => print('served ' + lease.isAcquired));
      print('waiting');`);
    expect(printed).toEqual(['waiting', 'served true']);
    expect(lingeredMs).toBeLessThan(5_000);
  });

  it('stays alive for a waiter in a partition that is replenished by hand', async () => {
    const { printed } = await run(`
      const limiter = limiters.createPartitionedRateLimiter((key) =>
        limiters.RateLimitPartition.getFixedWindowLimiter(key, () => ({
          permitLimit: 1, windowMs: 80, queueLimit: 1, autoReplenishment: false,
        })));
      limiter.attemptAcquire('a');
      limiter.acquire('a').then((lease) => print('served ' + lease.isAcquired));`);
    expect(printed).toEqual(['served true']);
  });

  it('stays alive until a bounded wait is over', async () => {
    const { printed } = await run(`
      const limiter = new limiters.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
      limiter.attemptAcquire();
      limiter.acquire(1, { maxWaitMs: 50 }).then((lease) => print(lease.getMetadata('REASON_PHRASE')));`);
    expect(printed).toEqual(['Wait limit reached']);
  });

  it('doesn’t stay alive for what no timer will bring', async () => {
    const { printed } = await run(`
      const limiter = new limiters.ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
      limiter.attemptAcquire();
      limiter.acquire().then(() => print('never'));
      print('done');`);
    expect(printed).toEqual(['done']);
  });

  it('ends once its last waiter has gone, however long that one would have waited', async () => {
    const { printed, stderr } = await run(`
      const day = 86_400_000;
      const limiter = new limiters.FixedWindowRateLimiter({ permitLimit: 1, windowMs: 40 * day, queueLimit: 3 });
      limiter.attemptAcquire();
      const controller = new AbortController();
      limiter.acquire(1, { signal: controller.signal }).then(() => print('too early'), () => print('aborted'));
      limiter.acquire().then((lease) => print('ended ' + lease.isAcquired));
      // A native timer beyond 2^31 ms fires after 1 ms: these turns give it the time to.
      let turns = 0;
      const turn = () => {
        if (turns++ < 20) return setTimeout(turn, 2);
        controller.abort();
        limiter.dispose();
      };
      turn();`);
    expect(printed).toEqual(['aborted', 'ended false']);
    expect(stderr).not.toContain('Warning');
  });

  it('throws partitions away without staying alive for it', async () => {
    const { printed } = await run(`
      const limiter = limiters.createPartitionedRateLimiter(
        (key) => limiters.RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit: 1 })),
        { idleTimeoutMs: 20 });
      for (let key = 0; key < 1_000; key++) limiter.attemptAcquire(key).dispose();
      const wait = () => limiter.partitionCount === 0 ? print('all gone') : setTimeout(wait, 20);
      wait();`);
    expect(printed).toEqual(['all gone']);
  });

  it('tells every listener of lost leases, though one throws: that is an uncaught error', async () => {
    const { printed } = await run(`
      require('node:v8').setFlagsFromString('--expose-gc');
      const collectGarbage = require('node:vm').runInNewContext('gc');
      const failures = [];
      process.on('uncaughtException', ({ message }) => failures.push(message));
      limiters.reportLostLeases(() => { throw new Error('in vain'); });
      let told = 0;
      limiters.reportLostLeases(() => told++);
      const limiter = new limiters.ConcurrencyLimiter({ permitLimit: 1 });
      limiter.attemptAcquire();
      const collect = () => {
        collectGarbage();
        if (failures.length === 0) return setImmediate(collect);
        print(failures.join() + ', told ' + told + ', ' + limiter.attemptAcquire().isAcquired);
      };
      setImmediate(collect);`);
    expect(printed).toEqual(['in vain, told 1, true']);
  });

  it('tells of a lost lease though the clock fails as its permits come back', async () => {
    const { printed } = await run(`
      require('node:v8').setFlagsFromString('--expose-gc');
      const collectGarbage = require('node:vm').runInNewContext('gc');
      const failures = [];
      process.on('uncaughtException', ({ message }) => failures.push(message));
      let told = 0;
      limiters.reportLostLeases(() => told++);
      let isFailing = false;
      const now = () => { if (isFailing) throw new Error('no time'); return 0; };
      const clock = { ...limiters.systemClock, now };
      const limiter = new limiters.ConcurrencyLimiter({ permitLimit: 1, clock });
      limiter.attemptAcquire();
      isFailing = true;
      const collect = () => {
        collectGarbage();
        if (failures.length === 0) return setImmediate(collect);
        isFailing = false;
        print(failures.join() + ', told ' + told + ', ' + limiter.attemptAcquire().isAcquired);
      };
      setImmediate(collect);`);
    expect(printed).toEqual(['no time, told 1, true']);
  });
});
