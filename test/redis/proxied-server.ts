import { Redis } from 'ioredis';
import { CuttingProxy } from './cutting-proxy.js';
import { RedisServer } from './redis-server.js';

/** A server that is reached through a proxy, which can come between, and a client that it doesn't come between. */
export class ProxiedServer {
  readonly server: RedisServer;
  readonly proxy: CuttingProxy;
  readonly admin: Redis;

  private constructor(server: RedisServer, proxy: CuttingProxy) {
    this.server = server;
    this.proxy = proxy;
    this.admin = new Redis(server.port, '127.0.0.1');
  }

  static async start(): Promise<ProxiedServer> {
    const server = await RedisServer.start();
    return new ProxiedServer(server, await CuttingProxy.start(server.port));
  }

  async stop(): Promise<void> {
    this.admin.disconnect();
    this.proxy.stop();
    await this.server.stop();
  }
}
