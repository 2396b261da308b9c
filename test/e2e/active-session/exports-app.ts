import type { CanActivate, DynamicModule, ExecutionContext, INestApplication } from '@nestjs/common';
import { Controller, Delete, Get, HttpException, Injectable, Post } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type {
  ActiveSession,
  ActiveSessionLimitingOptions,
  ActiveSessionModuleOptions,
} from '@ratelease/active-session';
import {
  ActiveSessionLimitingModule,
  ActiveSessionModule,
  ActiveSessions,
  byUserId,
  CurrentActiveSession,
  OpensActiveSession,
} from '@ratelease/active-session';
import { FakeClock } from '@ratelease/limiters/testing';
import type { RateLimitingRootOptions } from '@ratelease/nestjs';
import { RateLimitingModule } from '@ratelease/nestjs';
import { Gate } from '../nestjs/fixtures/gate.js';
import type { Platform, TestApp } from '../nestjs/fixtures/test-app.js';
import { startApp } from '../nestjs/fixtures/test-app.js';

/** Believes what the header says, as authentication would with a token. */
@Injectable()
class NamedUserGuard implements CanActivate {
  canActivate(execution: ExecutionContext): boolean {
    const request = execution.switchToHttp().getRequest<{ headers: Record<string, string>; user?: object }>();
    const name = request.headers['x-user'];
    if (name !== undefined) request.user = { id: name };
    return true;
  }
}

/** Where polls stand until a test lets them go. */
export class PollGate extends Gate {}

@Controller('exports')
class ExportsController {
  readonly #gate: PollGate;

  constructor(gate: PollGate) {
    this.#gate = gate;
  }

  @Post()
  @OpensActiveSession()
  open(@CurrentActiveSession() session: ActiveSession): { id: string } {
    return { id: session.id };
  }

  @Post('broken')
  @OpensActiveSession()
  break(): never {
    throw new HttpException('broken', 500);
  }

  @Get(':sessionId')
  poll(@CurrentActiveSession() session: ActiveSession): { group: string } {
    return { group: session.group.id };
  }

  @Get(':sessionId/slowly')
  async pollSlowly(@CurrentActiveSession() session: ActiveSession): Promise<string> {
    await this.#gate.pass();
    return session.id;
  }

  @Delete(':sessionId')
  async finish(@CurrentActiveSession() session: ActiveSession): Promise<string> {
    await session.terminate();
    return 'finished';
  }
}

@Controller('other')
class OtherController {
  @Get()
  answer(): string {
    return 'other';
  }
}

/** What a test configures. */
export interface ExportsAppOptions {
  readonly limit?: ActiveSessionLimitingOptions;
  readonly rateLimiting?: RateLimitingRootOptions;
  readonly sessions?: Partial<ActiveSessionModuleOptions>;
  /** The order in which the three modules are imported. */
  readonly order?: readonly ('sessions' | 'limit' | 'rateLimiting')[];
  readonly prepare?: (app: INestApplication) => unknown;
}

/** An application with exports: opened, polled and finished by users. */
export class ExportsApp {
  readonly clock: FakeClock;
  readonly app: TestApp;
  readonly sessions: ActiveSessions;
  readonly gate: PollGate;

  private constructor(app: TestApp, clock: FakeClock) {
    this.app = app;
    this.clock = clock;
    this.sessions = app.app.get(ActiveSessions, { strict: false });
    this.gate = app.app.get(PollGate, { strict: false });
  }

  static async start(platform: Platform, options: ExportsAppOptions = {}): Promise<ExportsApp> {
    const clock = new FakeClock();
    const modules: Record<'sessions' | 'limit' | 'rateLimiting', DynamicModule> = {
      sessions: ActiveSessionModule.forRoot({ group: byUserId(), clock, ...options.sessions }),
      limit: ActiveSessionLimitingModule.forRoot({ permitLimit: 2, ...options.limit }),
      rateLimiting: RateLimitingModule.forRoot({ clock, ...options.rateLimiting }),
    };
    const order = options.order ?? ['sessions', 'limit', 'rateLimiting'];
    const app = await startApp(
      platform,
      {
        imports: order.map((name) => modules[name]),
        controllers: [ExportsController, OtherController],
        providers: [PollGate, { provide: APP_GUARD, useClass: NamedUserGuard }],
      },
      options.prepare,
    );
    return new ExportsApp(app, clock);
  }

  /** Opens an export. Returns the status, and the id where there is one. */
  async open(user: string, path = '/exports'): Promise<{ status: number; id: string; body: string }> {
    const answer = await this.app.send({ method: 'POST', path, headers: { 'x-user': user } });
    const id = answer.status < 400 ? (JSON.parse(answer.body) as { id: string }).id : '';
    return { status: answer.status, id, body: answer.body };
  }

  async poll(user: string, id: string): Promise<number> {
    return (await this.app.get(`/exports/${id}`, { 'x-user': user })).status;
  }

  async finish(user: string, id: string): Promise<number> {
    const answer = await this.app.send({
      method: 'DELETE',
      path: `/exports/${id}`,
      headers: { 'x-user': user },
    });
    return answer.status;
  }

  /** How many sessions of a user are active. */
  activeOf(user: string): number {
    return this.sessions.group(`user=${user}`)?.sessions.length ?? 0;
  }
}
