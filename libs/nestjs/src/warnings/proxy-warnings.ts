import { Logger } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import type { ApplicationValue } from '../context/rate-limiting-context.js';
import { rawRequest } from '../http/raw-http.js';

const EVERYBODY =
  "proxies are trusted whoever they are, so that a client can choose its address, and with it its counter, by a header. Name your proxies' addresses: ";

/** By a number, a client that comes past the proxies could be trusted, too: Fastify has given that up. */
const NOBODY =
  "trustProxy is a number, by which new versions of Fastify 5 trust no proxy: all clients behind one share its counter. Name your proxies' addresses: ";
const FASTIFY_SETTING = "new FastifyAdapter({ trustProxy: '10.0.0.0/8' }).";

/** What is wrong with a platform's trust in proxies; `undefined` for nothing. */
export function trustProblem(platform: string, application: ApplicationValue): string | undefined {
  if (platform === 'express') {
    const { get } = application as { get?: (name: string) => unknown };
    if (get?.call(application, 'trust proxy') !== true) return undefined;
    return `Express: ${EVERYBODY}app.set('trust proxy', '10.0.0.0/8').`;
  }
  return platform === 'fastify' ? fastifyProblem(fastifyTrust(application)) : undefined;
}

function fastifyProblem(trust: unknown): string | undefined {
  if (trust === true) return `Fastify: ${EVERYBODY}${FASTIFY_SETTING}`;
  if (typeof trust === 'number' && trust > 0) return `Fastify: ${NOBODY}${FASTIFY_SETTING}`;
  return undefined;
}

/** Fastify shows its options to plugins only under a symbol of its own. */
function fastifyTrust(application: ApplicationValue): unknown {
  const instance = application as Record<symbol, { trustProxy?: unknown } | undefined>;
  const symbol = Object.getOwnPropertySymbols(instance).find(
    ({ description }) => description === 'fastify.options',
  );
  return symbol === undefined ? undefined : instance[symbol]?.trustProxy;
}

const GIVEN = Symbol.for('ratelease.forwarded-warning');
const processWide = globalThis as { [GIVEN]?: boolean };

/** Warns, once per process, when a proxy speaks for its clients and the framework doesn't listen. */
export function noteForwarded(request: ApplicationValue, address: string): void {
  if (processWide[GIVEN] === true) return;
  const raw = rawRequest(request) as Partial<IncomingMessage>;
  const { headers } = raw;
  if (headers?.['x-forwarded-for'] === undefined && headers?.forwarded === undefined) return;
  if (raw.socket?.remoteAddress !== address) return;
  processWide[GIVEN] = true;
  new Logger('RateLimitingModule').warn(
    'A request came with a forwarded address, but the proxy is not trusted: if there is one, all its clients share one key. ' +
      "Trust it by its address: app.set('trust proxy', …) on Express, trustProxy on Fastify.",
  );
}
