import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

/** A message that a channel's listener is sent, in both versions of the protocol. */
const MESSAGE = /[*>]3\r\n\$7\r\nmessage\r\n\$\d+\r\n[^\r]*\r\n\$\d+\r\n[^\r]*\r\n/g;

/**
 * Stands between clients and a server: it can swallow an answer together with its connection, lead elsewhere, let
 * nothing through while all connections stay, hold answers up, and lose messages.
 */
export class CuttingProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  #swallows = false;
  #isSilent = false;
  #holdsAnswers = false;
  #isLost: () => boolean = () => false;
  readonly #heldBack: (() => void)[] = [];
  /** So many milliseconds later each answer arrives. */
  delayMs = 0;
  /** How many messages were lost. */
  lost = 0;
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

  /** From now on nothing comes through, as where a network loses all packets: no end is told of it. */
  silence(): void {
    this.#isSilent = true;
  }

  /** From now on questions come through, and no answers. */
  holdAnswers(): void {
    this.#holdsAnswers = true;
  }

  /** What was held back arrives, and all that comes. */
  speak(): void {
    this.#isSilent = false;
    this.#holdsAnswers = false;
    for (const pass of this.#heldBack.splice(0)) pass();
  }

  /** From now on messages of channels are lost where it says so. */
  loseMessages(isLost: () => boolean): void {
    this.#isLost = isLost;
  }

  /** All connections are cut; new ones go through. */
  cut(): void {
    this.#heldBack.length = 0;
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

  #pass(to: Socket, data: Buffer, isHeld = this.#isSilent): void {
    if (isHeld) this.#heldBack.push(() => to.write(data));
    else if (!to.destroyed) to.write(data);
  }

  #answer(client: Socket, data: Buffer): void {
    this.#pass(client, data, this.#isSilent || this.#holdsAnswers);
  }

  #withoutLost(data: Buffer): Buffer {
    if (!data.includes('message')) return data;
    const heard = data.toString('latin1').replaceAll(MESSAGE, (message) => {
      if (!this.#isLost()) return message;
      this.lost++;
      return '';
    });
    return Buffer.from(heard, 'latin1');
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
    const late: Buffer[] = [];
    client.on('data', (data) => this.#pass(upstream, data));
    upstream.on('data', (data) => {
      if (!this.#swallows) {
        const heard = this.#withoutLost(data);
        if (this.delayMs === 0 && late.length === 0) return this.#answer(client, heard);
        // The oldest first, also where the delay is shorter by now: a connection keeps its order.
        late.push(heard);
        setTimeout(() => this.#answer(client, late.shift()!), this.delayMs);
        return;
      }
      this.#swallows = false;
      this.swallowed++;
      cut();
    });
  }
}
