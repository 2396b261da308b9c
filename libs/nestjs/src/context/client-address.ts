const IPV4_WITH_PORT = /^(\d{1,3}(?:\.\d{1,3}){3}):\d+$/;
const BRACKETED = /^\[([^\]]+)\](?::\d+)?$/;
const IPV4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;
const GROUP = /^[0-9a-f]{1,4}$/;
const GROUPS = 8;
const BITS_PER_GROUP = 16;
/** The first six groups of addresses that stand for one of IPv4. */
const EMBEDDING = [
  [0, 0, 0, 0, 0, 0xffff],
  [0x64, 0xff9b, 0, 0, 0, 0],
] as const;

/**
 * An address in one spelling: without port, brackets and zone, and IPv4 as IPv4 where an IPv6 address stands for it. Text
 * that is no address stays as it is, so that it is merged with nothing else.
 */
export function normalAddress(text: string): string {
  if (text.indexOf(':') === -1) return text;
  const bare = (IPV4_WITH_PORT.exec(text) ?? BRACKETED.exec(text))?.[1] ?? text;
  const groups = parseIpv6(bare);
  if (groups === null) return bare;
  return embeddedIpv4(groups) ?? withoutZone(bare).toLowerCase();
}

/**
 * The network of a normal address: IPv4 as it is, IPv6 cut to its first `prefixBits` bits. A customer usually
 * owns a whole /64, and would have as many keys as he likes otherwise.
 *
 * @param prefixBits - integer from 32 to 128.
 */
export function networkOf(address: string, prefixBits: number): string {
  if (address.indexOf(':') === -1) return address;
  const groups = parseIpv6(address);
  if (groups === null) return address;
  const cut = groups.map((group, index) => group & groupMask(prefixBits - index * BITS_PER_GROUP));
  return `${compressed(cut.map((group) => group.toString(16)).join(':'))}/${prefixBits}`;
}

/** Writes the longest run of zero groups as `::`, as people read addresses. */
function compressed(groups: string): string {
  const runs = groups.match(/(?:\b0:)*\b0\b/g) ?? [];
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '0');
  if (longest === '0') return groups;
  const start = groups.search(new RegExp(`\\b${longest}\\b`));
  const head = groups.slice(0, start).replace(/:$/, '');
  return `${head}::${groups.slice(start + longest.length + 1)}`;
}

function groupMask(bitsLeft: number): number {
  if (bitsLeft >= BITS_PER_GROUP) return 0xffff;
  return bitsLeft <= 0 ? 0 : (0xffff << (BITS_PER_GROUP - bitsLeft)) & 0xffff;
}

function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

/** The eight groups of an IPv6 address, or `null` where the text is none. */
function parseIpv6(text: string): number[] | null {
  const address = foldIpv4Tail(withoutZone(text).toLowerCase());
  const halves = address?.split('::');
  if (halves === undefined || halves.length > 2) return null;
  const head = groupsOf(halves[0]!);
  const tail = halves.length === 2 ? groupsOf(halves[1]!) : [];
  if (head === null || tail === null) return null;
  const missing = GROUPS - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  return [...head, ...Array<number>(missing).fill(0), ...tail];
}

function groupsOf(text: string): number[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  return parts.every((part) => GROUP.test(part)) ? parts.map((part) => Number.parseInt(part, 16)) : null;
}

/** Writes the dotted end of `::ffff:192.0.2.1` as two groups; `null` where it isn't four bytes. */
function foldIpv4Tail(address: string): string | null {
  if (address.indexOf('.') === -1) return address;
  const start = address.lastIndexOf(':') + 1;
  const bytes = IPV4.exec(address.slice(start))?.slice(1).map(Number);
  if (bytes === undefined || bytes.some((byte) => byte > 255)) return null;
  const [a, b, c, d] = bytes as [number, number, number, number];
  return `${address.slice(0, start)}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

/** The IPv4 address in one that is mapped (`::ffff:0:0/96`) or translated (`64:ff9b::/96`, RFC 6052, section 2.1). */
function embeddedIpv4(groups: readonly number[]): string | null {
  if (!EMBEDDING.some((prefix) => prefix.every((group, index) => groups[index] === group))) return null;
  const [high, low] = [groups[6]!, groups[7]!];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
