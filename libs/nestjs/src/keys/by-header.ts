import { headersOf } from '../context/context-source.js';
import type { SpacedKeyFunction } from './key-function.js';
import { makesKeys, spaced } from './key-function.js';

/**
 * Counts by a request header; over WebSockets by that of the request which opened the connection, with Socket.IO and
 * `graphql-ws`. Requests without it share one key. A client can send what it likes: put a limit by
 * `byClient()` beside it, or only use headers that were verified before.
 *
 * @param name - in any case.
 */
export function byHeader(name: string): SpacedKeyFunction {
  const header = name.toLowerCase();
  const absent = `header-absent=${header}`;
  return spaced((context) => {
    const value = headersOf(context.request)?.[header];
    if (value === undefined) return absent;
    return `header=${JSON.stringify(header)}=${Array.isArray(value) ? JSON.stringify(value) : value}`;
  });
}
makesKeys(byHeader);
