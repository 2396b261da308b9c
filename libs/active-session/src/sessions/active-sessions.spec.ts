import { FakeClock } from '@ratelease/limiters/testing';
import { readActiveSessionOptions } from '../module/active-session-options.js';
import { SessionEndedError } from '../errors/active-session-error.js';
import { ActiveSessions } from './active-sessions.js';

function setUp() {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const settings = readActiveSessionOptions({
    group: () => undefined,
    idleTimeoutMs: 100,
    maxLifetimeMs: 1000,
    workGraceMs: 50,
    clock,
    onError: (error) => errors.push(error),
  });
  return { clock, errors, sessions: new ActiveSessions(settings) };
}

describe('a session', () => {
  it('is found in its group by its id, until it ends', () => {
    const { sessions } = setUp();
    const session = sessions.open('ann', { id: 'export' });
    expect(sessions.find('ann', 'export')).toBe(session);
    expect(sessions.find('bob', 'export')).toBeUndefined();
    expect(session.group).toBe(sessions.group('ann'));
    expect(session.isAvailable).toBe(true);

    void session.terminate();
    expect(session.isAvailable).toBe(false);
    expect(session.endReason).toBe('terminated');
    expect(session.ended.reason).toBeInstanceOf(SessionEndedError);
    expect(sessions.find('ann', 'export')).toBeUndefined();
  });

  it('has an id of its own where none is given, and shares none with another', () => {
    const { sessions } = setUp();
    expect(sessions.open('ann').id).not.toBe(sessions.open('ann').id);
    sessions.open('ann', { id: 'export' });
    expect(() => sessions.open('ann', { id: 'export' })).toThrow(
      /^The group "ann" has a session "export" already/,
    );
    expect(sessions.open('bob', { id: 'export' }).id).toBe('export');
  });

  it('keeps what belongs to it', () => {
    const { sessions } = setUp();
    const session = sessions.open('ann');
    session.properties.set('rows', 5);
    session.group.properties.set('plan', 'pro');
    expect(sessions.group('ann')!.sessions[0]!.properties.get('rows')).toBe(5);
    expect(sessions.group('ann')!.properties.get('plan')).toBe('pro');
  });

  it('ends when nobody has used it for too long', () => {
    const { clock, sessions } = setUp();
    const session = sessions.open('ann');
    clock.advance(90);
    session.touch();
    clock.advance(90);
    expect(session.isAvailable).toBe(true);
    clock.advance(10);
    expect(session.endReason).toBe('idle');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not idle while a request uses it, but grows too old', () => {
    const { clock, sessions } = setUp();
    const session = sessions.open('ann');
    const leave = session.enter();
    clock.advance(900);
    leave();
    clock.advance(99);
    expect(session.isAvailable).toBe(true);
    const again = session.enter();
    clock.advance(1);
    expect(session.endReason).toBe('expired');
    again();
    expect(clock.pendingTimers).toBe(0);
  });

  it('may have a lifetime of its own', () => {
    const { clock, sessions } = setUp();
    const session = sessions.open('ann', { idleTimeoutMs: Infinity, maxLifetimeMs: Infinity });
    expect(clock.pendingTimers).toBe(0);
    clock.advance(1e9);
    expect(session.isAvailable).toBe(true);
  });

  it('disposes what it owns, the last thing first, whatever some of it throws', async () => {
    const { sessions, errors } = setUp();
    const session = sessions.open('ann');
    const ended: string[] = [];
    const owned = session.takeOwnership({ [Symbol.dispose]: () => ended.push('first') });
    expect(owned).toHaveProperty([Symbol.dispose]);
    session.takeOwnership({
      [Symbol.asyncDispose]: async () => {
        await Promise.resolve();
        ended.push('second');
      },
    });
    session.takeOwnership({
      [Symbol.dispose]: () => {
        throw new Error('broken');
      },
    });
    await session.terminate();
    expect(ended).toEqual(['second', 'first']);
    expect(errors).toEqual([new Error('broken')]);
  });

  it('disposes at once what it gets after its end, and refuses what nobody could dispose', async () => {
    const { sessions } = setUp();
    const session = sessions.open('ann');
    expect(() => session.takeOwnership({} as never)).toThrow(/can own only what has Symbol.dispose/);
    await session.terminate();
    let isDisposed = false;
    expect(() => session.takeOwnership({ [Symbol.dispose]: () => void (isDisposed = true) })).toThrow(
      SessionEndedError,
    );
    expect(isDisposed).toBe(true);
  });
});

describe('work in the background of a session', () => {
  it('goes on without requests, reports progress and has an outcome', async () => {
    const { clock, sessions } = setUp();
    const session = sessions.open('ann');
    let finish!: (rows: number) => void;
    const heard: number[] = [];
    const work = session.startWork<number, number>(async ({ report }) => {
      report(10);
      const rows = await new Promise<number>((resolve) => {
        finish = resolve;
      });
      report(100);
      return rows;
    });
    work.onProgress((progress) => heard.push(progress));
    expect([work.status, work.progress]).toEqual(['running', 10]);
    clock.advance(500);
    expect(session.isAvailable).toBe(true);

    finish(7);
    expect(await work.result).toBe(7);
    expect([work.status, work.progress, heard]).toEqual(['done', 100, [100]]);
    expect(session.works).toEqual([]);
    clock.advance(100);
    expect(session.endReason).toBe('idle');
  });

  it('is told to end with the session, and owned things wait for it', async () => {
    const { sessions } = setUp();
    const session = sessions.open('ann');
    const order: string[] = [];
    session.takeOwnership({ [Symbol.dispose]: () => order.push('file') });
    const work = session.startWork(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            order.push('work');
            reject(signal.reason as Error);
          });
        }),
    );
    await session.terminate();
    expect(order).toEqual(['work', 'file']);
    expect(work.status).toBe('cancelled');
    expect(work.error).toBeInstanceOf(SessionEndedError);
    expect(() => session.startWork(async () => 1)).toThrow(SessionEndedError);
  });

  it('does not keep owned things for ever when it does not obey', async () => {
    const { clock, sessions } = setUp();
    const session = sessions.open('ann');
    let isDisposed = false;
    session.takeOwnership({ [Symbol.dispose]: () => void (isDisposed = true) });
    session.startWork(() => new Promise(() => undefined));
    const over = session.terminate();
    clock.advance(49);
    expect(isDisposed).toBe(false);
    clock.advance(1);
    await over;
    expect(isDisposed).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('may fail or be cancelled alone', async () => {
    const { sessions } = setUp();
    const session = sessions.open('ann');
    const failing = session.startWork(async () => {
      throw new Error('disk full');
    });
    await expect(failing.result).rejects.toThrow('disk full');
    expect([failing.status, failing.error]).toEqual(['failed', new Error('disk full')]);

    const cancelled = session.startWork(async ({ signal }) => {
      await Promise.resolve();
      signal.throwIfAborted();
    });
    cancelled.cancel(new Error('enough'));
    await expect(cancelled.result).rejects.toThrow('enough');
    expect(cancelled.status).toBe('cancelled');
    expect(session.isAvailable).toBe(true);
  });
});

describe('a group of sessions', () => {
  it('ends with the last of its sessions, and is another one afterwards', async () => {
    const { sessions } = setUp();
    const [first, second] = [sessions.open('ann'), sessions.open('ann')];
    const { group } = first;
    let isDisposed = false;
    group.takeOwnership({ [Symbol.dispose]: () => void (isDisposed = true) });

    void first.terminate();
    expect(group.isAvailable).toBe(true);
    void second.terminate();
    expect(group.isAvailable).toBe(false);
    await Promise.resolve();
    expect(isDisposed).toBe(true);
    expect(sessions.groups).toEqual([]);
    expect(() => group.open()).toThrow(/^The group "ann" of sessions has ended: group/);
    expect(sessions.open('ann').group).not.toBe(group);
  });

  it('ends its sessions with itself, and all of them end with the application', async () => {
    const { sessions } = setUp();
    const all = ['ann', 'ann', 'bob'].map((id) => sessions.open(id));
    await sessions.group('ann')!.terminate();
    expect(all.map(({ endReason }) => endReason)).toEqual(['group', 'group', undefined]);
    await sessions.onModuleDestroy();
    expect(all[2]!.endReason).toBe('shutdown');
  });
});
