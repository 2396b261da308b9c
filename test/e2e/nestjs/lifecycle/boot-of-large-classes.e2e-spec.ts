import type { ModuleMetadata, Type } from '@nestjs/common';
import { Controller, Injectable } from '@nestjs/common';
import { EnableRateLimiting, RateLimitingModule } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

/** Gives a class so many methods; counts how often anybody looks at one of them. */
function withMethods(type: Type, count: number): { looks: () => number } {
  let looks = 0;
  const methods = Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const name = `method${index}`;
      const descriptor = { value: { [name]: () => index }[name], configurable: true, writable: true };
      return [name, descriptor];
    }),
  );
  const inherited = new Proxy(Object.create(null, methods) as object, {
    getOwnPropertyDescriptor: (target, key) => {
      looks++;
      return Reflect.getOwnPropertyDescriptor(target, key);
    },
  });
  Object.setPrototypeOf(type.prototype as object, inherited);
  return { looks: () => looks };
}

const KINDS: [string, (count: number) => { metadata: ModuleMetadata; looks: () => number }][] = [
  [
    'a controller',
    (count) => {
      @Controller()
      class Large {}
      return { metadata: { controllers: [Large] }, ...withMethods(Large, count) };
    },
  ],
  [
    'a limited controller',
    (count) => {
      @Controller()
      @EnableRateLimiting('burst')
      class Large {}
      return { metadata: { controllers: [Large] }, ...withMethods(Large, count) };
    },
  ],
  [
    'a provider',
    (count) => {
      @Injectable()
      class Large {}
      return { metadata: { providers: [Large] }, ...withMethods(Large, count) };
    },
  ],
  [
    'a value',
    (count) => {
      class Large {}
      const looks = withMethods(Large, count);
      return { metadata: { providers: [{ provide: 'LARGE', useValue: new Large() }] }, ...looks };
    },
  ],
];

describe.each(KINDS)('the boot of %s with many methods', (_, large) => {
  afterEach(stopApps);

  it('looks at each no more often than where there are few', async () => {
    const looksPerMethod = async (count: number): Promise<number> => {
      const { metadata, looks } = large(count);
      const policies = { burst: { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } } as const;
      const imports = [RateLimitingModule.forRoot({ policies })];
      await startApp(PLATFORMS[0]!, { ...metadata, imports });
      return looks() / count;
    };
    const few = await looksPerMethod(20);
    expect(few).toBeGreaterThan(0);
    expect(await looksPerMethod(200)).toBeLessThanOrEqual(few + 1);
  });
});
