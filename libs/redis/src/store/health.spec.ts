import { stat } from 'node:fs';
import type { RedisConnection } from '../clients/redis-connection.js';
import { SentScripts } from '../scripts/sent-scripts.js';
import { Health } from './health.js';

const TIMEOUT_MS = 50;
const NEVER_TOLD = new Int32Array(new SharedArrayBuffer(4));

/** A cluster whose nodes answer probes when a test says so. */
class Nodes {
  readonly isCluster = true;
  isReady = true;
  readonly sentScripts = new SentScripts();
  readonly #probes: (() => void)[] = [];
  readonly wake = (): void => undefined;

  readonly onReady = (): void => undefined;
  readonly eval = (): Promise<unknown> => new Promise((resolve) => this.#probes.push(() => resolve(1)));
  readonly evalsha = this.eval;

  get probes(): number {
    return this.#probes.length;
  }

  /** One of them answers. */
  answer(): void {
    this.#probes[0]!();
  }
}

let nodes: Nodes;
let health: Health;
let changes: boolean[];
beforeEach(() => {
  nodes = new Nodes();
  health = new Health(nodes as unknown as RedisConnection, 'test', (start) => start());
  const told: boolean[] = (changes = []);
  health.onChange((isAvailable) => told.push(isAvailable));
});
afterEach(() => health.end());

/** A command got no answer in the time that it had. */
const timedOut = (): void => health.timedOut(performance.now() - TIMEOUT_MS);

/** Behind all that the time of the doubt brings. */
async function decided(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 4 * TIMEOUT_MS));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
}

describe('a cluster of which one node gave no answer', () => {
  it('is available where another one answers within the time that the command had', async () => {
    timedOut();
    expect(health.isAvailable).toBe(true);
    nodes.answer();
    await decided();
    expect(changes).toEqual([]);
  });

  it('is unavailable where none does', async () => {
    timedOut();
    await decided();
    expect(changes).toEqual([false]);
  });

  it('is unavailable at once where the connection is lost meanwhile, which is told once', async () => {
    timedOut();
    nodes.isReady = false;
    timedOut();
    expect(changes).toEqual([false]);
    nodes.isReady = true;
    await decided();
    expect(changes).toEqual([false]);
  });

  it('is asked once, however many commands got no answer', async () => {
    timedOut();
    const { probes } = nodes;
    timedOut();
    expect(nodes.probes).toBe(probes);
    nodes.answer();
    await decided();
    timedOut();
    expect(nodes.probes).toBe(2 * probes);
  });

  it('is available where the answer lies there when the process goes on that stood still meanwhile', async () => {
    timedOut();
    const ended = decided();
    // It is there with the sockets, which come behind the timers.
    stat('.', () => nodes.answer());
    Atomics.wait(NEVER_TOLD, 0, 0, 2 * TIMEOUT_MS);
    await ended;
    expect(changes).toEqual([]);
  });
});
