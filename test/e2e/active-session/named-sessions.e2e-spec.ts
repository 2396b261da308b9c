import { Controller, Put } from '@nestjs/common';
import type { ActiveSession } from '@ratelease/active-session';
import {
  ActiveSessionLimitingModule,
  ActiveSessionModule,
  CurrentActiveSession,
  OpensActiveSession,
} from '@ratelease/active-session';
import { RateLimitingModule } from '@ratelease/nestjs';
import { PLATFORMS, startApp, stopApps } from '../nestjs/test-app.js';

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
