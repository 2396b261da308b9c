import type { MethodPlace } from '../endpoints/method-place.js';
import { standInFor } from './method-replacement.js';

/** Lets a call of a method in, or not. */
export type MethodGate = (args: readonly unknown[], run: () => unknown) => unknown;

type Method = (this: object, ...args: unknown[]) => unknown;

const GATES = Symbol.for('ratelease.method-gates');

/**
 * The same method with a place for gates, one for each instance of its class, and one, under the method itself, for
 * instances that are made per message; without one, as in an application without limits, it changes nothing.
 */
export function gated(method: Method): Method {
  const gates = new WeakMap<object, MethodGate>();
  const replacement: Method = function gatedMethod(...args) {
    const gate = gates.get(this) ?? gates.get(replacement);
    return gate === undefined ? method.apply(this, args) : gate(args, () => method.apply(this, args));
  };
  all().set(replacement, gates);
  standInFor(method, replacement);
  return replacement;
}

/**
 * Gives a method of a class a place for gates. Nest takes some methods from the class, and before it tells any module:
 * what is replaced on the instance it never calls there. Where the class is frozen, the method stays without one.
 */
export function gateMethod({ owner, key }: MethodPlace): void {
  const { value, writable, configurable } = Object.getOwnPropertyDescriptor(owner, key)!;
  if (gatesOf(value as Method) !== undefined) return;
  if (writable !== true && configurable !== true) return;
  Object.defineProperty(owner, key, { value: gated(value as Method) });
}

/** The gates of a method, by instance; `undefined` where it has no place for any. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function gatesOf(method: Function): WeakMap<object, MethodGate> | undefined {
  return all().get(method);
}

/** Of the process: a second loaded copy of the package, or another application, may have gated the class before. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
function all(): WeakMap<Function, WeakMap<object, MethodGate>> {
  const shared = globalThis as unknown as Record<symbol, ReturnType<typeof all> | undefined>;
  return (shared[GATES] ??= new WeakMap());
}
