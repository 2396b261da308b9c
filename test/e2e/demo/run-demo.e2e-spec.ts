import type { INestApplication } from '@nestjs/common';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { SCENARIOS } from '../../../apps/demo/src/scenarios.js';
import { runDemo } from '../../../apps/demo/src/run-demo.js';
import { send } from '../nestjs/fixtures/http-client.js';

interface Run {
  readonly app: INestApplication | undefined;
  readonly printed: string;
  readonly errors: string;
}

async function run(args: readonly string[], env: Record<string, string>): Promise<Run> {
  let printed = '';
  let errors = '';
  const app = await runDemo({
    args,
    env,
    print: (text) => (printed += text),
    printError: (text) => (errors += text),
  });
  return { app, printed, errors };
}

describe('npm start', () => {
  it.each([
    [[], {}, 'Express'],
    [['--fastify'], {}, 'Fastify'],
    [[], { PLATFORM: 'fastify' }, 'Fastify'],
  ])('with %j and %j says where to look and what to try, on %s', async (args, env, platform) => {
    const { app, printed, errors } = await run(args, { PORT: '0', ...env });
    const { port } = (app!.getHttpServer() as { address(): AddressInfo }).address();
    expect(printed).toContain(`on ${platform}: http://localhost:${port} lists`);
    expect(printed).toContain(`http://localhost:${port}/dashboard shows live`);
    for (const { line } of SCENARIOS.flatMap(({ commands }) => commands(`http://localhost:${port}`))) {
      expect(printed).toContain(line);
    }
    expect(errors).toBe('');
    expect((await send(port, { path: '/' })).status).toBe(200);
    await app!.close();
  });

  it.each([[[]], [['--fastify']]])('explains a busy port: %j', async (args) => {
    const other = createServer().listen(0);
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { app, printed, errors } = await run(args, { PORT: String(port) });
    other.close();
    expect(app).toBeUndefined();
    expect(printed).toBe('');
    expect(errors).toBe(
      `Port ${port} is busy. End what listens there, or take another: PORT=${port + 1} npm start`,
    );
  });

  it.each([
    [['--koa'], {}, 'Unknown option --koa.'],
    [[], { PORT: 'http' }, 'PORT must be a number from 0 to 65535, but is "http".'],
    [[], { PORT: '65536' }, 'PORT must be a number from 0 to 65535, but is "65536".'],
    [[], { PLATFORM: 'koa' }, 'PLATFORM must be express or fastify, but is "koa".'],
  ])('explains %j and %j', async (args, env, message) => {
    const { app, errors } = await run(args, env);
    expect(app).toBeUndefined();
    expect(errors).toContain(message);
  });
});
