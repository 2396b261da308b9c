import { standInFor } from '../binding/method-replacement.js';

type Method = (this: object, ...args: unknown[]) => unknown;

/** A client that connects to a gateway. */
export interface Connection {
  readonly gateway: object;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly handler: Function;
  /** What the gateway's method gets: the client first. */
  readonly args: readonly unknown[];
  /** Calls the gateway's method. */
  readonly run: () => unknown;
}

/** Lets connections in, or not. */
export type ConnectionGate = (connection: Connection) => unknown;

const GATES = Symbol.for('ratelease.connection-gates');

/** The method of a gateway that Nest calls for every client that connects. */
export const CONNECTION_METHOD = 'handleConnection';

/**
 * The same method, behind the gate of its instance. Nest takes the method before any module could replace it on the
 * instance, so that the decorator has to; without a gate, as in an application without limits, it changes nothing.
 */
export function behindGate(method: Method): Method {
  const gated: Method = function handleConnection(...args) {
    const gate = gates().get(this);
    const run = (): unknown => method.apply(this, args);
    return gate === undefined ? run() : gate({ gateway: this, handler: gated, args, run });
  };
  standInFor(method, gated);
  return gated;
}

/** Gives a gateway its gate. */
export function setGate(gateway: object, gate: ConnectionGate): void {
  gates().set(gateway, gate);
}

/** Of the process: a second loaded copy of the package may be the one that sets them. */
function gates(): WeakMap<object, ConnectionGate> {
  const all = globalThis as unknown as Record<symbol, WeakMap<object, ConnectionGate> | undefined>;
  return (all[GATES] ??= new WeakMap());
}
