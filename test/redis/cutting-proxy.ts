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

  #upstreamPort: number;

  private constructor(port: number) {
    this.#upstreamPort = port;
    this.#server = createServer((client) => this.#join(client, connect(this.#upstreamPort, '127.0.0.1')));
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

  /** Another server takes the place of the first: all connections are cut, new ones lead to it. */
  turnTo(port: number): void {
    this.#upstreamPort = port;
    this.#cutAll();
  }

  stop(): void {
    this.#cutAll();
    this.#server.close();
  }

  #cutAll(): void {
    for (const [client, upstream] of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
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
