import { MissingKeyError } from '../errors/missing-key-error.js';
import type { SpacedKeyFunction } from './key-function.js';
import { spaced } from './key-function.js';

/**
 * Counts by the client's network: its IPv4 address, or the /64 of its IPv6 address (`ipv6SubnetPrefix`). Behind
 * a proxy, set the framework's trusted-proxy option, or all clients are the proxy.
 */
export function byClient(): SpacedKeyFunction {
  return spaced((context) => {
    const network = context.clientNetwork;
    if (network !== undefined) return `client=${network}`;
    throw new MissingKeyError(
      `byClient() found no client address on a request of type '${context.type}'. Use another key where there is none.`,
    );
  });
}
