import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Where Linux says from where to where it gives out ports by itself. */
const GIVEN_OUT = '/proc/sys/net/ipv4/ip_local_port_range';
/** Elsewhere they begin at this one or above. */
const FIRST_GIVEN_OUT = 32_768;
/** Below it are those that services are known by. */
const FIRST = 10_000;
/** So many there are to choose from at least, also where the system gives out those too. */
const FEWEST = 10_000;

/** The first port that the system gives to whoever asks for any: a client that connects, a server that listens on port 0. */
export function firstGivenOut(): number {
  return existsSync(GIVEN_OUT) ? Number.parseInt(readFileSync(GIVEN_OUT, 'utf8'), 10) : FIRST_GIVEN_OUT;
}

/** By chance: the processes that run tests side by side don't know of each other. */
function anyPort(): number {
  const count = Math.max(FEWEST, firstGivenOut() - FIRST);
  return FIRST + Math.floor(Math.random() * count);
}

/** On what was given somebody listens only later. */
const given = new Set<number>();

/**
 * A port of the loopback that nobody uses, and that nobody gets who takes what the system gives him: one of those could be
 * gone before a server listens on it, or while a server that was killed is started anew, and a client that tries to connect
 * to it meanwhile can even meet itself.
 *
 * @param pick - a port to try.
 */
export async function freePort(pick: () => number = anyPort): Promise<number> {
  for (;;) {
    const port = pick();
    if (given.has(port)) continue;
    given.add(port);
    // oxlint-disable-next-line no-await-in-loop -- until one is free
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
