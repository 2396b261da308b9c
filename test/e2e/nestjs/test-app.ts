import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { AbstractHttpAdapter } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { AddressInfo, Server } from 'node:net';
import { promisify } from 'node:util';
import type { HttpAnswer, HttpExchange, HttpQuestion } from './http-client.js';
import { exchange, send } from './http-client.js';

// A test of real sockets takes as long as its machine lets it; what must not happen is decided by conditions.
jest.setTimeout(30_000);

/** What Nest runs on. */
export interface Platform {
  readonly name: string;
  readonly adapter: () => AbstractHttpAdapter;
}

/** Every suite runs on both. */
export const PLATFORMS: readonly Platform[] = [
  { name: 'Express', adapter: () => new ExpressAdapter() },
  { name: 'Fastify', adapter: () => new FastifyAdapter() },
];

/** A Nest application that listens on a port of its own. */
export class TestApp {
  readonly app: INestApplication;
  readonly port: number;

  constructor(app: INestApplication) {
    this.app = app;
    this.port = (app.getHttpServer() as { address(): AddressInfo }).address().port;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<HttpAnswer> {
    return send(this.port, { path, headers });
  }

  send(question: HttpQuestion): Promise<HttpAnswer> {
    return send(this.port, question);
  }

  open(path: string, headers: Record<string, string> = {}): HttpExchange {
    return exchange(this.port, { path, headers });
  }

  /** Resolves once the server has no connection any more: it has noticed that its clients left. */
  async isDeserted(): Promise<void> {
    const server = this.app.getHttpServer() as Server;
    const count = promisify(server.getConnections.bind(server));
    while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve));
  }

  /** The statuses of requests that are sent one after the other. */
  async statuses(path: string, count: number, headers: Record<string, string> = {}): Promise<number[]> {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent++) statuses.push((await this.get(path, headers)).status);
    return statuses;
  }
}

const running = new Set<INestApplication>();

/** Starts an application with these parts as its root module. Rejects when it doesn't boot. */
export async function startApp(
  platform: Platform,
  metadata: ModuleMetadata,
  prepare: (app: INestApplication) => unknown = () => undefined,
): Promise<TestApp> {
  class RootModule {}
  Module(metadata)(RootModule);
  const app = await NestFactory.create(RootModule, platform.adapter(), {
    logger: false,
    abortOnError: false,
  });
  running.add(app);
  await prepare(app);
  await app.listen(0, '127.0.0.1');
  return new TestApp(app);
}

/** The error with which an application doesn't boot. */
export async function bootError(
  platform: Platform,
  metadata: ModuleMetadata,
): Promise<Error & { code?: string }> {
  try {
    await startApp(platform, metadata);
  } catch (error) {
    return error as Error;
  }
  throw new Error('The application booted, but should not have.');
}

/** Closes what {@link startApp} has started; for `afterEach`. */
export async function stopApps(): Promise<void> {
  for (const app of running) await app.close();
  running.clear();
}
