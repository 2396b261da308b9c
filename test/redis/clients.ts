import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';

/** A client of a package, connected, and how it is closed. */
export interface OpenClient {
  readonly client: object;
  close(): void;
}

/** Both packages whose clients are taken. */
export const CLIENTS: readonly { readonly name: string; open(port: number): Promise<OpenClient> }[] = [
  {
    name: 'ioredis',
    open: async (port) => {
      const client = new Redis(port, '127.0.0.1');
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'node-redis',
    open: async (port) => {
      const client = createClient({ url: `redis://127.0.0.1:${port}` });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
  },
];

/** The same, which connect again after so many milliseconds. */
export const clientsThatReconnect = (afterMs: number): typeof CLIENTS => [
  {
    name: 'ioredis',
    open: async (port) => {
      const client = new Redis(port, '127.0.0.1', { retryStrategy: () => afterMs });
      client.on('error', () => undefined);
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'node-redis',
    open: async (port) => {
      const socket = { port, host: '127.0.0.1', reconnectStrategy: () => afterMs };
      const client = createClient({ socket });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
  },
];

/** Their clients of a cluster, which begin with one of its nodes. */
export const CLUSTER_CLIENTS: typeof CLIENTS = [
  {
    name: 'ioredis',
    open: async (port) => {
      const client = new Cluster([{ host: '127.0.0.1', port }]);
      await client.ping();
      return { client, close: () => client.disconnect() };
    },
  },
  {
    name: 'node-redis',
    open: async (port) => {
      const client = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
  },
];
