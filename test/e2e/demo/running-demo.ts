import type { INestApplication, Type } from '@nestjs/common';
import { FakeClock } from '@ratelease/limiters/testing';
import type { AddressInfo } from 'node:net';
import type { Platform } from '../../../apps/demo/src/create-demo.js';
import { createDemo } from '../../../apps/demo/src/create-demo.js';
import type { HttpAnswer, HttpExchange } from '../nestjs/fixtures/http-client.js';
import { exchange } from '../nestjs/fixtures/http-client.js';
import { readCurlLine } from './curl-line.js';

/** The demo on a port of its own, on a clock that a test moves. */
export class RunningDemo {
  readonly clock: FakeClock;
  readonly port: number;
  readonly #app: INestApplication;

  private constructor(app: INestApplication, clock: FakeClock) {
    this.#app = app;
    this.clock = clock;
    this.port = (app.getHttpServer() as { address(): AddressInfo }).address().port;
  }

  static async start(platform: Platform): Promise<RunningDemo> {
    const clock = new FakeClock();
    const app = await createDemo({ platform, clock });
    await app.listen(0, '127.0.0.1');
    return new RunningDemo(app, clock);
  }

  get url(): string {
    return `http://localhost:${this.port}`;
  }

  provider<T>(type: Type<T>): T {
    return this.#app.get(type, { strict: false });
  }

  /** Sends the requests of a curl line at once. */
  open(line: string): HttpExchange[] {
    const { method, urls, headers, isParallel } = readCurlLine(line);
    if (urls.length > 1 && !isParallel) throw new Error(`Not at once: ${line}`);
    return urls.map(({ pathname, search }) =>
      exchange(this.port, { method, path: pathname + search, headers }),
    );
  }

  /** Sends the requests of a curl line one after the other. */
  async run(line: string): Promise<HttpAnswer[]> {
    const { method, urls, headers, isParallel } = readCurlLine(line);
    if (isParallel) throw new Error(`Not one after the other: ${line}`);
    const answers: HttpAnswer[] = [];
    for (const { pathname, search } of urls) {
      answers.push(await exchange(this.port, { method, path: pathname + search, headers }).answer);
    }
    return answers;
  }

  stop(): Promise<void> {
    return this.#app.close();
  }
}

/** Statuses of those answers that have come, as they come. */
export function collectStatuses(exchanges: readonly HttpExchange[]): number[] {
  const statuses: number[] = [];
  for (const { answer } of exchanges) {
    answer.then(
      ({ status }) => statuses.push(status),
      () => undefined,
    );
  }
  return statuses;
}
