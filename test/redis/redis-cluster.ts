import { Redis } from 'ioredis';
import { freePort } from '../ports/free-port.js';
import { RedisServer } from './redis-server.js';

const SLOTS = 16_384;
const MASTERS = 3;
/** A cluster on one machine is whole within seconds. */
const LONGEST_WAIT_MS = 20_000;

/** A cluster of three masters on the loopback, with or without a replica of each. */
export class RedisCluster {
  /** The masters at the beginning, in the order of their slots, then their replicas. */
  readonly nodes: readonly RedisServer[];

  private constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes;
  }

  /** Starts the nodes, shares the slots among them, and resolves when all of them know it. */
  static async start(replicas: 'alone' | 'with replicas' = 'alone'): Promise<RedisCluster> {
    const nodes: RedisServer[] = [];
    const busPorts: number[] = [];
    const count = replicas === 'alone' ? MASTERS : 2 * MASTERS;
    // One after the other: a port that is free is only taken once its server listens.
    for (let node = 0; node < count; node++) {
      // oxlint-disable-next-line no-await-in-loop
      busPorts.push(await freePort());
      // oxlint-disable-next-line no-await-in-loop
      nodes.push(await startNode(busPorts[node]!));
    }
    const admins = nodes.map(({ port }) => new Redis(port, '127.0.0.1'));
    try {
      const share = Math.ceil(SLOTS / MASTERS);
      await Promise.all(
        admins.map(async (admin, index) => {
          const last = Math.min(SLOTS, (index + 1) * share) - 1;
          if (index < MASTERS) await admin.cluster('ADDSLOTSRANGE', index * share, last);
          if (index > 0) await admin.call('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port, busPorts[0]!);
        }),
      );
      await Promise.all(admins.map((admin) => untilWhole(admin, count)));
      await Promise.all(
        admins.slice(MASTERS).map(async (replica, index) => {
          await replica.cluster('REPLICATE', await admins[index]!.cluster('MYID'));
          await until(async () => (await replica.info('replication')).includes('master_link_status:up'));
        }),
      );
    } finally {
      for (const admin of admins) admin.disconnect();
    }
    return new RedisCluster(nodes);
  }

  /** A key of which the partition lies on that master, by the slots of the beginning. */
  async keyOf(node: number): Promise<string> {
    const admin = new Redis(this.nodes[MASTERS - 1]!.port, '127.0.0.1');
    const share = Math.ceil(SLOTS / MASTERS);
    for (let number = 0; ; number++) {
      const key = `on-${node}-${number}`;
      // oxlint-disable-next-line no-await-in-loop -- until one lies there
      if (Math.floor((await admin.cluster('KEYSLOT', key)) / share) !== node) continue;
      admin.disconnect();
      return key;
    }
  }

  /** Moves a slot with all its keys from one master to another, as resharding does. `during`: before the last step. */
  async move(slot: number, from: number, to: number, during?: () => Promise<void>): Promise<void> {
    const [source, target] = [from, to].map((node) => new Redis(this.nodes[node]!.port, '127.0.0.1')) as [
      Redis,
      Redis,
    ];
    const [sourceId, targetId] = [await source.cluster('MYID'), await target.cluster('MYID')] as [
      string,
      string,
    ];
    await target.cluster('SETSLOT', slot, 'IMPORTING', sourceId);
    await source.cluster('SETSLOT', slot, 'MIGRATING', targetId);
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- until none is left
      const keys = await source.cluster('GETKEYSINSLOT', slot, 100);
      if (keys.length === 0) break;
      // oxlint-disable-next-line no-await-in-loop
      await source.call('MIGRATE', '127.0.0.1', this.nodes[to]!.port, '', 0, 5_000, 'KEYS', ...keys);
    }
    await during?.();
    await target.cluster('SETSLOT', slot, 'NODE', targetId);
    await source.cluster('SETSLOT', slot, 'NODE', targetId);
    source.disconnect();
    target.disconnect();
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

async function untilWhole(admin: Redis, nodes: number): Promise<void> {
  await until(async () => {
    const info = await admin.cluster('INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${nodes}`);
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const beganMs = performance.now();
  // oxlint-disable-next-line no-await-in-loop -- until it is so
  while (!(await isSo())) {
    if (performance.now() - beganMs > LONGEST_WAIT_MS) throw new Error('The cluster did not become whole.');
    // oxlint-disable-next-line no-await-in-loop -- the nodes gossip ten times a second
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
