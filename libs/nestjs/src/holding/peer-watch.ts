import type { Peer } from '../transports/peer.js';
import { hasLeft, onLeft, peersOf, socketOf } from '../transports/peer.js';
import { SocketOperation } from '../transports/socket-operation.js';
import type { ClientWatch } from './client-watch.js';
import type { Holder } from './holder.js';

/**
 * Watches the connections of messages and resolver calls, where their transport shows them: a WebSocket, the socket of
 * a TCP microservice, the request of a GraphQL operation, a subscription. There is one listener per connection, for any number of
 * handlings, and only those that run are remembered.
 */
export class PeerWatch implements ClientWatch {
  readonly #companies = new WeakMap<Peer, Map<Holder, SocketOperation | undefined>>();

  watch(holder: Holder): void {
    if (holder.isWatched) return;
    holder.isWatched = true;
    const peers = peersOf(holder.context);
    if (peers.some(hasLeft)) return holder.disconnect();
    const operation = SocketOperation.of(holder.context);
    for (const peer of peers) this.#companyOf(peer, holder).set(holder, operation);
  }

  look(holder: Holder): void {
    if (peersOf(holder.context).some(hasLeft)) holder.disconnect();
  }

  forget(holder: Holder): void {
    if (!holder.isWatched) return;
    holder.isWatched = false;
    for (const peer of peersOf(holder.context)) this.#companies.get(peer)?.delete(holder);
  }

  beginWait(): void {
    // Nobody waits behind others here.
  }

  isBlocked(): boolean {
    return false;
  }

  #companyOf(peer: Peer, { context }: Holder): Map<Holder, SocketOperation | undefined> {
    const known = this.#companies.get(peer);
    if (known !== undefined) return known;
    const company = new Map<Holder, SocketOperation | undefined>();
    this.#companies.set(peer, company);
    onLeft(peer, () => {
      for (const holder of company.keys()) holder.disconnect();
      company.clear();
    });
    // graphql-ws has listened before, and so it has noted what a message says.
    if (socketOf(context.request) === peer) peer.on?.('message', () => endGivenUp(company));
    return company;
  }
}

function endGivenUp(company: Map<Holder, SocketOperation | undefined>): void {
  for (const [holder, operation] of company) {
    if (operation?.isGivenUp !== true) continue;
    company.delete(holder);
    holder.disconnect();
  }
}
