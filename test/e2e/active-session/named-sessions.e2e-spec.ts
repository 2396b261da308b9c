import { Controller, Put } from '@nestjs/common';
import type { ActiveSession } from '@ratelease/active-session';
import {
  ActiveSessionLimitingModule,
  ActiveSessionModule,
  CurrentActiveSession,
  OpensActiveSession,
} from '@ratelease/active-session';
import { RateLimitingModule } from '@ratelease/nestjs';
import { bootError, PLATFORMS, startApp, stopApps } from '../nestjs/fixtures/test-app.js';

afterEach(stopApps);

@Controller('uploads')
class UploadsController {
  @Put(':sessionId')
  @OpensActiveSession({ named: true, idleTimeoutMs: 5_000 })
  put(@CurrentActiveSession() session: ActiveSession): string {
    const count = ((session.properties.get('parts') as number | undefined) ?? 0) + 1;
    session.properties.set('parts', count);
    return `${session.id}: ${count}`;
  }
}

describe.each(PLATFORMS)('a session that its requests name, on $name', (platform) => {
  it('is opened by the first of them, and the others belong to it', async () => {
    const app = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({}),
        ActiveSessionModule.forRoot({ group: () => 'everybody' }),
        ActiveSessionLimitingModule.forRoot({ permitLimit: 1, name: 'uploads' }),
      ],
      controllers: [UploadsController],
    });
    const put = (name: string) => app.send({ method: 'PUT', path: `/uploads/${name}` });
    expect((await put('a')).body).toBe('a: 1');
    expect((await put('a')).body).toBe('a: 2');
    const refused = await put('b');
    expect(refused.status).toBe(429);
    expect(refused.headers['ratelimit-policy']).toBe('"uploads";q=1;qu="concurrent-requests"');
    expect((await put('a')).body).toBe('a: 3');
  });
});

describe('the limit on sessions, imported twice', () => {
  it('stops the boot', async () => {
    const limit = ActiveSessionLimitingModule.forRoot({ permitLimit: 1 });
    const again = ActiveSessionLimitingModule.forRoot({ permitLimit: 2 });
    const error = await bootError(PLATFORMS[0]!, {
      imports: [
        RateLimitingModule.forRoot({}),
        ActiveSessionModule.forRoot({ group: () => 'everybody' }),
        limit,
        again,
      ],
    });
    expect(error.code).toBe('ERR_RL_DUPLICATE_POLICY');
  });

  it('says at the boot what is wrong with its numbers and with the sessions', async () => {
    const limitError = await bootError(PLATFORMS[0]!, {
      imports: [
        RateLimitingModule.forRoot({}),
        ActiveSessionModule.forRoot({ group: () => 'everybody' }),
        ActiveSessionLimitingModule.forRoot({ permitLimit: 0 }),
      ],
    });
    expect(limitError.message).toMatch(/permitLimit must be an integer/);
    const sessionError = await bootError(PLATFORMS[0]!, {
      imports: [ActiveSessionModule.forRoot({ group: 'user' as never })],
    });
    expect(sessionError.message).toMatch(
      /^ActiveSessionModule.forRoot\(\): group must be a function such as/,
    );
  });
});
