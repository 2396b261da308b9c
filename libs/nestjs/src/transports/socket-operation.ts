import type { HandlingContext } from '../context/handling-context.js';
import { socketOf } from './peer.js';
import type { ResolveInfo } from './resolve-info.js';
import { beginsStream, resolveInfoOf } from './resolve-info.js';

/** What graphql-ws knows of a connection, as far as it is needed here. */
interface SocketContext {
  /** By id: `null` while an operation is on its way, then the stream of a subscription. */
  readonly subscriptions?: Readonly<Record<string, unknown>> | undefined;
}

/** Which operation has which id, where that is known. */
const owners = new WeakMap<object, Map<string, unknown>>();

/**
 * An operation of graphql-ws that may be given up while its socket stays open. Its resolvers aren't told which of the
 * operations they belong to; but those that are on their way are known, and when none that it can be is left, it has
 * been given up. With several at once that may be noticed late, never wrongly.
 */
export class SocketOperation {
  readonly #context: SocketContext;
  readonly #ids: readonly string[];

  private constructor(context: SocketContext, ids: readonly string[]) {
    this.#context = context;
    this.#ids = ids;
  }

  /** `undefined` for handlings of other kinds, and for what happens after an operation has begun to stream. */
  static of({ type, request, execution }: HandlingContext): SocketOperation | undefined {
    if (type !== 'graphql' || socketOf(request) === undefined) return undefined;
    const context = request as SocketContext;
    const info = resolveInfoOf(execution);
    if (typeof context.subscriptions !== 'object' || info === undefined || isEvent(info)) return undefined;
    const ids = candidates(context.subscriptions, info.operation);
    return ids.length === 0 ? undefined : new SocketOperation(context, ids);
  }

  /** Whether none of the operations that it can be is there any more. */
  get isGivenUp(): boolean {
    const { subscriptions = {} } = this.#context;
    return !this.#ids.some((id) => id in subscriptions);
  }
}

/** A resolver that runs for each event of a stream: by then the operation has a stream, and no `null`. */
function isEvent(info: ResolveInfo): boolean {
  return info.operation?.operation === 'subscription' && !beginsStream(info);
}

/** The ids that an operation may have: those on their way that aren't known to be another's. */
function candidates(subscriptions: Readonly<Record<string, unknown>>, operation: unknown): string[] {
  const pending = Object.keys(subscriptions).filter((id) => subscriptions[id] === null);
  const known = owners.get(subscriptions) ?? new Map<string, unknown>();
  for (const id of known.keys()) if (!pending.includes(id)) known.delete(id);
  const ids = pending.filter((id) => (known.get(id) ?? operation) === operation);
  if (ids.length === 1) owners.set(subscriptions, known.set(ids[0]!, operation));
  return ids;
}
