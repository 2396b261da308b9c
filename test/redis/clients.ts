import { Redis } from 'ioredis';
import { createClient } from 'redis';

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
