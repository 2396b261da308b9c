import { MissingKeyError } from '../errors/missing-key-error.js';
import type { SpacedKeyFunction } from './key-function.js';
import { makesKeys, spaced } from './key-function.js';

/**
 * Counts by the client's network: its IPv4 address, or the /64 of its IPv6 address (`ipv6SubnetPrefix`). Behind
 * a proxy, set the framework's trusted-proxy option, or all clients are the proxy.
 */
export function byClient(): SpacedKeyFunction {
  const keys = new ClientKeys();
  return spaced((context) => {
    const network = context.clientNetwork;
    if (network !== undefined) return keys.of(network);
    throw new MissingKeyError(
      `byClient() found no client address on a request of type '${context.type}'. Use another key where there is none.`,
    );
  });
}
makesKeys(byClient);

/** So many keys are kept: enough for those who ask again and again, and nothing to speak of in memory. */
const KEPT = 1_000;

/**
 * The keys of the last clients. A string that was just put together has to be hashed and compared to be found in a
 * map; the one that stands there already doesn't.
 */
class ClientKeys {
  readonly #keys = new Map<string, string>();

  of(network: string): string {
    const known = this.#keys.get(network);
    if (known !== undefined) return known;
    if (this.#keys.size >= KEPT) this.#keys.clear();
    const key = `client=${network}`;
    this.#keys.set(network, key);
    return key;
  }
}
