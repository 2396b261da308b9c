import type { CallHandler, ExecutionContext } from '@nestjs/common';
import { ConcurrencyLimiter, RateLimitPartition } from '@ratelease/limiters';
import { lastValueFrom, of, Subject, throwError } from 'rxjs';
import { EnableRateLimiting } from '../decorators/enable-rate-limiting.js';
import { PlanBook } from '../endpoints/plan-book.js';
import { readSettings } from '../module/settings.js';
import { PolicyRegistry } from '../policies/policy-registry.js';
import { Enforcement } from './enforcement.js';
import { Visibility } from '../visibility/visibility.js';
import { RateLimitingGuard } from './rate-limiting.guard.js';
import { RateLimitingInterceptor } from './rate-limiting.interceptor.js';

class Gateway {
  @EnableRateLimiting('slots')
  say(): string {
    return 'said';
  }

  @EnableRateLimiting('slots', { phase: 'guard' })
  guarded(): string {
    return 'said';
  }

  free(): string {
    return 'said';
  }
}

type Call = readonly [type: string, args: readonly unknown[]];

const CALLS: Call[] = [
  ['ws', [{ handshake: { address: '192.0.2.1' } }, 'data']],
  ['rpc', ['data', { getPattern: () => 'sum' }]],
  ['graphql', [undefined, {}, { req: { ip: '192.0.2.1' } }, {}]],
  ['graphql', [undefined, {}, undefined, {}]],
];

describe.each(CALLS)('a handler of type %s', (type, args) => {
  const limiter = new ConcurrencyLimiter({ permitLimit: 1, queueLimit: 1 });
  const held = (): number => 1 - limiter.getStatistics().currentAvailablePermits;
  let guard: RateLimitingGuard;
  let interceptor: RateLimitingInterceptor;

  beforeEach(async () => {
    const settings = readSettings('test', {
      policies: { slots: () => RateLimitPartition.get('k', () => limiter) },
    });
    const policies = new PolicyRegistry(settings, () => undefined);
    await policies.compileNamed(() => Promise.reject(new Error('no classes here')));
    const enforcement = new Enforcement(settings, new PlanBook(settings, policies), new Visibility(settings));
    guard = new RateLimitingGuard(enforcement);
    interceptor = new RateLimitingInterceptor(enforcement);
  });

  const executionOf = (handler: () => string): ExecutionContext => {
    const own = [...args];
    return {
      getType: () => type,
      getClass: () => Gateway,
      getHandler: () => handler,
      getArgs: () => own,
      getArgByIndex: (index: number) => own[index],
    } as unknown as ExecutionContext;
  };
  const run = async (handler: () => string, next: CallHandler): Promise<unknown> => {
    const execution = executionOf(handler);
    expect(await guard.canActivate(execution)).toBe(true);
    return lastValueFrom(interceptor.intercept(execution, next));
  };

  it.each([Gateway.prototype.say, Gateway.prototype.guarded])(
    'holds its permit until it ends: %p',
    async (handler) => {
      const work = new Subject<string>();
      const ended = run(handler, { handle: () => work });
      await Promise.resolve();
      await new Promise(setImmediate);
      expect(held()).toBe(1);
      work.next('said');
      work.complete();
      expect(await ended).toBe('said');
      expect(held()).toBe(0);
    },
  );

  it('gives its permit back when it fails, and when nobody wants its answer any more', async () => {
    await expect(
      run(Gateway.prototype.say, { handle: () => throwError(() => new Error('broken')) }),
    ).rejects.toThrow('broken');
    expect(held()).toBe(0);
    const work = new Subject<string>();
    const subscription = interceptor
      .intercept(executionOf(Gateway.prototype.say), { handle: () => work })
      .subscribe();
    await new Promise(setImmediate);
    expect(held()).toBe(1);
    subscription.unsubscribe();
    expect(held()).toBe(0);
  });

  it('gives its place in the queue back when nobody wants its answer any more, and doesn’t run', async () => {
    const lease = limiter.attemptAcquire();
    const handle = jest.fn(() => of('never'));
    const subscription = interceptor.intercept(executionOf(Gateway.prototype.say), { handle }).subscribe();
    await new Promise(setImmediate);
    expect(limiter.getStatistics().currentQueuedCount).toBe(1);
    subscription.unsubscribe();
    expect(limiter.getStatistics().currentQueuedCount).toBe(0);
    lease.dispose();
    await new Promise(setImmediate);
    expect(handle).not.toHaveBeenCalled();
    expect(held()).toBe(0);
  });

  it('gives back a permit that comes in the moment in which nobody wants it any more', async () => {
    const lease = limiter.attemptAcquire();
    const handle = jest.fn(() => of('never'));
    const subscription = interceptor.intercept(executionOf(Gateway.prototype.say), { handle }).subscribe();
    await new Promise(setImmediate);
    lease.dispose();
    expect(held()).toBe(1);
    subscription.unsubscribe();
    await new Promise(setImmediate);
    expect(handle).not.toHaveBeenCalled();
    expect(held()).toBe(0);
  });

  it('is left alone where no limit applies', async () => {
    const answer = of('said');
    expect(interceptor.intercept(executionOf(Gateway.prototype.free), { handle: () => answer })).toBe(answer);
  });
});
