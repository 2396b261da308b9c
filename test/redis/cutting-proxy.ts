import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** Stands between clients and a server, and can swallow an answer together with its connection. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  #swallows = false;
  /** How many answers were swallowed. */
  swallowed = 0;

  private constructor(port: number) {
    this.#server = createServer((client) => this.#join(client, connect(port, '127.0.0.1')));
  }

  static async start(port: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The next answer of the server is lost, and its connection with it: the server has done what it was asked. */
  swallowNext(): void {
    this.#swallows = true;
  }

  stop(): void {
    for (const [client, upstream] of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
    this.#server.close();
  }

  #join(client: Socket, upstream: Socket): void {
    const pair = [client, upstream] as const;
    this.#pairs.add(pair);
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('error', cut).on('close', cut);
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => {
      if (!this.#swallows) {
        client.write(data);
        return;
      }
      this.#swallows = false;
      this.swallowed++;
      cut();
    });
  }
}
