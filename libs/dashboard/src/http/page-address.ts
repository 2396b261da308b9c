/**
 * What the page's own addresses begin with, relative to the address that it was asked by: so they are right behind
 * any prefix, also one that a proxy takes away.
 *
 * @param address - path and query of the request, with or without a slash at the end of the path.
 */
export function relativeBase(address: string): string {
  const path = address.split(/[?#]/, 1)[0]!;
  const lastSegment = path.slice(path.lastIndexOf('/') + 1);
  return lastSegment === '' ? './' : `./${lastSegment}/`;
}
