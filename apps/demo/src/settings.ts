import type { Platform } from './create-demo.js';

/** What a user decides about the demo. */
export interface Settings {
  readonly platform: Platform;
  readonly port: number;
}

/** A setting that makes no sense. Its message is for the user. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const DEFAULT_PORT = 3000;
const LAST_PORT = 65_535;

/**
 * Reads the settings: `--fastify` or `PLATFORM=fastify`, and `PORT`.
 *
 * @throws SettingsError - for anything else.
 */
export function readSettings(args: readonly string[], env: Record<string, string | undefined>): Settings {
  const unknown = args.find((argument) => argument !== '--fastify');
  if (unknown !== undefined) {
    throw new SettingsError(`Unknown option ${unknown}. There is only --fastify: npm start -- --fastify`);
  }
  return { platform: readPlatform(args, env.PLATFORM), port: readPort(env.PORT) };
}

function readPlatform(args: readonly string[], text: string | undefined): Platform {
  if (args.includes('--fastify') || text === 'fastify') return 'fastify';
  if (text === undefined || text === '' || text === 'express') return 'express';
  throw new SettingsError(`PLATFORM must be express or fastify, but is ${JSON.stringify(text)}.`);
}

function readPort(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_PORT;
  if (/^\d+$/.test(text) && Number(text) <= LAST_PORT) return Number(text);
  throw new SettingsError(`PORT must be a number from 0 to ${LAST_PORT}, but is ${JSON.stringify(text)}.`);
}
