import type { INestApplication } from '@nestjs/common';
import type { AddressInfo } from 'node:net';
import { createDemo, LOG_LEVELS } from './create-demo.js';
import { overviewText } from './overview/overview-text.js';
import { SCENARIOS } from './scenarios.js';
import type { Settings } from './settings.js';
import { readSettings, SettingsError } from './settings.js';

/** What the demo needs of the process that it runs in. */
export interface Surroundings {
  /** The arguments after the program's name. */
  readonly args: readonly string[];
  readonly env: Record<string, string | undefined>;
  print(text: string): void;
  printError(text: string): void;
}

/**
 * Starts the demo and says what to try.
 *
 * @returns the application that listens; `undefined` when it can't, after an explanation.
 */
export async function runDemo(surroundings: Surroundings): Promise<INestApplication | undefined> {
  let app: INestApplication | undefined;
  try {
    const settings = readSettings(surroundings.args, surroundings.env);
    app = await createDemo({ platform: settings.platform });
    // Nest logs a busy port in its own words, too.
    app.useLogger(false);
    await app.listen(settings.port);
    app.useLogger(LOG_LEVELS);
    surroundings.print(greeting(settings, app));
    return app;
  } catch (error) {
    const explanation = explain(error);
    if (explanation === undefined) throw error;
    surroundings.printError(explanation);
    await app?.close();
    return undefined;
  }
}

function greeting({ platform }: Settings, app: INestApplication): string {
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  const url = `http://localhost:${port}`;
  return [
    `The demo of Ratelease runs on ${platform === 'fastify' ? 'Fastify' : 'Express'}: ${url} lists what to try.`,
    `${url}/dashboard shows live what the limits do, and sends traffic of your choice.`,
    'Type these lines in another terminal (curl 7.68 or later). Ctrl-C ends the demo.',
    '',
    overviewText(SCENARIOS, url),
  ].join('\n');
}

/** Words for what a user can put right; `undefined` for everything else. */
function explain(error: unknown): string | undefined {
  if (error instanceof SettingsError) return error.message;
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') {
    return `Port ${port} is busy. End what listens there, or take another: PORT=${(port ?? 0) + 1} npm start`;
  }
  if (code === 'EACCES') return `Port ${port} needs more rights. Take one from 1024 on: PORT=3000 npm start`;
  return undefined;
}
