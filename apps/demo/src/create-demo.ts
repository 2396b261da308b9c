import type { INestApplication, LogLevel } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { WsAdapter } from '@nestjs/platform-ws';
import type { Clock } from '@ratelease/limiters';
import { systemClock } from '@ratelease/limiters';
import { DemoModule } from './demo.module.js';

/** What Nest runs on. */
export type Platform = 'express' | 'fastify';

/** How a demo is made. */
export interface DemoOptions {
  readonly platform: Platform;
  /** @defaultValue the clock of the process */
  readonly clock?: Clock;
}

// Only a proxy on this machine may say for whom it asks.
const TRUSTED_PROXIES = 'loopback';

/** What is worth a line beside the demo's own. */
export const LOG_LEVELS: LogLevel[] = ['error', 'warn'];

/** Makes the application; it doesn't listen yet. */
export async function createDemo({ platform, clock = systemClock }: DemoOptions): Promise<INestApplication> {
  const module = DemoModule.with(clock);
  const options = { logger: LOG_LEVELS, abortOnError: false };
  if (platform === 'fastify') {
    const adapter = new FastifyAdapter({ trustProxy: TRUSTED_PROXIES });
    return withSockets(await NestFactory.create<NestFastifyApplication>(module, adapter, options));
  }
  const app = await NestFactory.create<NestExpressApplication>(module, options);
  app.set('trust proxy', TRUSTED_PROXIES);
  return withSockets(app);
}

function withSockets(app: INestApplication): INestApplication {
  return app.useWebSocketAdapter(new WsAdapter(app));
}
