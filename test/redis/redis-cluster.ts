import { Redis } from 'ioredis';
import { freePort, RedisServer } from './redis-server.js';

const SLOTS = 16_384;
const NODES = 3;
/** A cluster on one machine is whole within seconds. */
const LONGEST_WAIT_MS = 20_000;

/** A cluster of three masters without replicas, on the loopback. */
export class RedisCluster {
  readonly nodes: readonly RedisServer[];

  private constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes;
  }

  /** Starts the nodes, shares the slots among them, and resolves when all of them know it. */
  static async start(): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    const busPorts: number[] = [];
    // One after the other: a port that is free is only taken once its server listens.
    for (let node = 0; node < NODES; node++) {
      // oxlint-disable-next-line no-await-in-loop
      busPorts.push(await freePort());
      // oxlint-disable-next-line no-await-in-loop
      nodes.push(await startNode(busPorts[node]!));
    }
    const admins = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
    try {
      const share = Math.ceil(SLOTS / nodes.length);
      await Promise.all(
        admins.map(async (admin, index) => {
          const last = Math.min(SLOTS, (index + 1) * share) - 1;
          await admin.cluster('ADDSLOTSRANGE', index * share, last);
          if (index > 0) await admin.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port, busPorts[0]!);
        }),
      );
      await Promise.all(admins.map((admin) => untilWhole(admin)));
    } finally {
      for (const admin of admins) admin.disconnect();
    }
    return new RedisCluster(nodes);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }
}

/** The nodes of a cluster speak to each other on a port of its own, by default out of the range that is free here. */
function startNode(busPort: number): Promise<RedisServer> {
  const options = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort)];
  return RedisServer.start(...options, '--cluster-node-timeout', '2000');
}

async function untilWhole(admin: Redis): Promise<void> {
  const beganMs = performance.now();
  let info = '';
  while (performance.now() - beganMs < LONGEST_WAIT_MS) {
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    info = await admin.cluster('INFO');
    if (info.includes('cluster_state:ok') && info.includes('cluster_known_nodes:3')) return;
    // oxlint-disable-next-line no-await-in-loop -- the nodes gossip ten times a second
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`The cluster did not become whole: ${info}`);
}
