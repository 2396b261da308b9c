import { createPartitionedRateLimiter, RateLimitPartition } from '../index.js';
import type { DefaultPartitionedRateLimiter } from '../index.js';
import { FakeClock } from '../testing/index.js';

interface Person {
  readonly name: string;
}

function perName(): DefaultPartitionedRateLimiter<string, string> {
  return createPartitionedRateLimiter(
    (name: string) =>
      RateLimitPartition.getConcurrencyLimiter(name, () => ({ permitLimit: 2, queueLimit: 1 })),
    { clock: new FakeClock() },
  );
}

describe('a translated limiter', () => {
  it('asks the other limiter for the translated resource, translating once per call', async () => {
    const inner = perName();
    let calls = 0;
    const people = inner.withTranslatedKey(({ name }: Person) => {
      calls++;
      return name;
    });
    expect(people.attemptAcquire({ name: 'Anna' }).isAcquired).toBe(true);
    expect((await people.acquire({ name: 'Anna' })).isAcquired).toBe(true);
    expect(inner.attemptAcquire('Anna').isAcquired).toBe(false);
    expect(people.getStatistics({ name: 'Anna' })).toEqual(inner.getStatistics('Anna'));
    expect(calls).toBe(3);
  });

  it('judges misuse, its end and aborted signals before it translates', async () => {
    let calls = 0;
    const people = perName().withTranslatedKey((person: Person) => {
      calls++;
      return person.name;
    });
    const anna = { name: 'Anna' };
    expect(() => people.attemptAcquire(anna, -1)).toThrow(RangeError);
    await expect(people.acquire(anna, 0.5)).rejects.toThrow(RangeError);
    const signal = AbortSignal.abort(new Error('aborted'));
    await expect(people.acquire(anna, 1, { signal })).rejects.toThrow('aborted');
    people.dispose();
    expect(() => people.attemptAcquire(anna)).toThrow(/disposed/);
    await expect(people.acquire(anna)).rejects.toThrow(/disposed/);
    expect(calls).toBe(0);
  });

  it('hands on what its key adapter throws', async () => {
    const people = perName().withTranslatedKey((): string => {
      throw new Error('who?');
    });
    expect(() => people.attemptAcquire(1)).toThrow('who?');
    await expect(people.acquire(1)).rejects.toThrow('who?');
  });

  it('ends the other one with itself, unless that is left open', () => {
    const [closed, open] = [perName(), perName()];
    closed.withTranslatedKey(({ name }: Person) => name).dispose();
    open.withTranslatedKey(({ name }: Person) => name, { leaveOpen: true }).dispose();
    expect(() => closed.attemptAcquire('Anna')).toThrow(/disposed/);
    expect(open.attemptAcquire('Anna').isAcquired).toBe(true);
  });

  it('can be translated again', () => {
    const inner = perName();
    const byId = inner
      .withTranslatedKey(({ name }: Person) => name)
      .withTranslatedKey((id: number) => ({ name: `#${id}` }));
    byId.attemptAcquire(1, 2);
    expect(inner.attemptAcquire('#1').isAcquired).toBe(false);
  });

  it('refreshes the options of the other one', () => {
    let permitLimit = 1;
    const inner = createPartitionedRateLimiter((key: string) =>
      RateLimitPartition.getConcurrencyLimiter(key, () => ({ permitLimit })),
    );
    const translated = inner.withTranslatedKey((key: number) => String(key));
    translated.attemptAcquire(1);
    permitLimit = 2;
    translated.refreshOptions();
    expect(translated.attemptAcquire(1).isAcquired).toBe(true);
  });

  it('needs a function', () => {
    expect(() => perName().withTranslatedKey('name' as never)).toThrow(TypeError);
  });
});
