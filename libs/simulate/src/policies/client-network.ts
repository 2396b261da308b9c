import { isIPv6 } from 'node:net';

const GROUPS = 8;
const GROUPS_OF_NETWORK = 4;
const MAPPED_IPV4 = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/;

/**
 * What a client is counted by, as `byClient()` of the Nest module does: its IPv4 address (a mapped one too), or the /64
 * of its IPv6 address, because a customer usually owns a whole /64. Other text stays as it is: a log may have names.
 */
export function clientNetwork(address: string): string {
  const text = address.startsWith('[') ? address.slice(1, address.indexOf(']')) : address;
  const zone = text.indexOf('%');
  const bare = zone === -1 ? text : text.slice(0, zone);
  if (bare.indexOf(':') === -1 || !isIPv6(bare)) return address;
  const canonical = canonicalIpv6(bare);
  const [, high, low] = MAPPED_IPV4.exec(canonical) ?? [];
  if (high !== undefined && low !== undefined)
    return dotted(Number.parseInt(high, 16), Number.parseInt(low, 16));
  return `${canonicalIpv6(`${networkGroups(canonical).join(':')}::`)}/64`;
}

/** The WHATWG parser writes an address the one way that RFC 5952 recommends. */
function canonicalIpv6(address: string): string {
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}

function networkGroups(canonical: string): readonly string[] {
  const [head = '', tail] = canonical.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: GROUPS - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].slice(0, GROUPS_OF_NETWORK);
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
