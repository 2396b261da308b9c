import { ApolloDriver } from '@nestjs/apollo';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import type { WebSocketAdapter } from '@nestjs/common';
import { UseInterceptors } from '@nestjs/common';
import { GraphQLModule, Int, Query, Resolver } from '@nestjs/graphql';
import { IoAdapter } from '@nestjs/platform-socket.io';
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets';
import {
  EnableRateLimiting,
  RateLimitingInterceptor,
  RateLimitingModule,
  byHeader,
  byUser,
} from '@ratelease/nestjs';
import type { Client } from 'graphql-ws';
import type { Socket } from 'socket.io-client';
import { io } from 'socket.io-client';
import { eventually } from '../fixtures/eventually.js';
import { closeSubscribers, subscriber } from '../fixtures/graphql-subscriber.js';
import type { TestApp } from '../fixtures/test-app.js';
import { PLATFORMS, startApp, stopApps } from '../fixtures/test-app.js';

const window = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 60_000 } as const;
const policies = {
  perTenant: { ...window, key: byHeader('X-Tenant') },
  perUser: { ...window, key: byUser() },
} as const;

@Resolver()
class AnswerResolver {
  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('perTenant')
  ofTenant(): number {
    return 1;
  }

  @Query(() => Int, { nullable: true })
  @EnableRateLimiting('perUser')
  ofUser(): number {
    return 1;
  }
}

@WebSocketGateway()
@UseInterceptors(RateLimitingInterceptor)
class AnswerGateway {
  @SubscribeMessage('ofTenant')
  @EnableRateLimiting('perTenant')
  ofTenant(): string {
    return 'answered';
  }
}

type LeaveUser = (extra: Record<string, unknown>, user: unknown) => void;

/** Where authentication leaves the user of a connection. */
const PLACES: readonly (readonly [place: string, leave: LeaveUser])[] = [
  [
    'extra',
    (extra, user) => {
      extra['user'] = { id: user };
    },
  ],
  [
    'the request',
    (extra, user) => {
      Object.assign(extra['request']!, { user: { id: user } });
    },
  ],
];

const clientOf = (app: TestApp, headers: Record<string, string>, user?: string): Client =>
  subscriber(app, { headers, connectionParams: { user } });

/** Whether an operation was answered, and not refused. */
async function isAnswered(client: Client, query: string): Promise<boolean> {
  const answers: boolean[] = [];
  await new Promise<void>((resolve, reject) => {
    client.subscribe(
      { query },
      { next: ({ errors }) => answers.push(errors === undefined), error: reject, complete: resolve },
    );
  });
  return answers[0]!;
}

describe('what was said when a connection was opened', () => {
  afterEach(async () => {
    await closeSubscribers();
    await stopApps();
  });

  const start = (leaveUser: LeaveUser): Promise<TestApp> =>
    startApp(PLATFORMS[0]!, {
      imports: [
        RateLimitingModule.forRoot({ policies }),
        GraphQLModule.forRoot<ApolloDriverConfig>({
          driver: ApolloDriver,
          autoSchemaFile: true,
          subscriptions: {
            'graphql-ws': {
              onConnect: ({ connectionParams, extra }) =>
                leaveUser(extra as Record<string, unknown>, connectionParams?.['user']),
            },
          },
        }),
      ],
      providers: [AnswerResolver],
    });

  it('counts by graphql-ws for byHeader(), together with HTTP', async () => {
    const app = await start(() => undefined);
    const first = clientOf(app, { 'x-tenant': 'one' });
    expect(await isAnswered(first, '{ ofTenant }')).toBe(true);
    expect(await isAnswered(clientOf(app, { 'x-tenant': 'two' }), '{ ofTenant }')).toBe(true);
    expect(await isAnswered(first, '{ ofTenant }')).toBe(false);
    const body = { query: '{ ofTenant }' };
    const answer = await app.send({ method: 'POST', path: '/graphql', headers: { 'x-tenant': 'two' }, body });
    expect(answer.body).toContain('TOO_MANY_REQUESTS');
  });

  it.each(PLACES)(
    'counts by graphql-ws for byUser(), where authentication leaves the user on %s',
    async (_place, leave) => {
      const app = await start(leave);
      const ann = clientOf(app, {}, 'ann');
      expect(await isAnswered(ann, '{ ofUser }')).toBe(true);
      expect(await isAnswered(clientOf(app, {}, 'bob'), '{ ofUser }')).toBe(true);
      expect(await isAnswered(ann, '{ ofUser }')).toBe(false);
      expect(await isAnswered(clientOf(app, {}, 'ann'), '{ ofUser }')).toBe(false);
    },
  );

  it('counts by Socket.IO for byHeader()', async () => {
    const app = await startApp(
      PLATFORMS[0]!,
      { imports: [RateLimitingModule.forRoot({ policies })], providers: [AnswerGateway] },
      (started) => started.useWebSocketAdapter(new IoAdapter(started) as WebSocketAdapter),
    );
    const connect = (tenant: string): Socket =>
      io(`http://127.0.0.1:${app.port}`, {
        transports: ['websocket'],
        reconnection: false,
        forceNew: true,
        extraHeaders: { 'x-tenant': tenant },
      });
    const [first, second, third] = [connect('one'), connect('two'), connect('one')] as const;
    expect(await first.emitWithAck('ofTenant', 1)).toBe('answered');
    expect(await second.emitWithAck('ofTenant', 1)).toBe('answered');
    const refusals: { code: number }[] = [];
    third.on('exception', (refusal: { code: number }) => refusals.push(refusal));
    third.emit('ofTenant', 1);
    await eventually(() => refusals.length === 1);
    expect(refusals[0]).toMatchObject({ code: 429, policy: 'perTenant' });
    for (const socket of [first, second, third]) socket.disconnect();
  });
});
