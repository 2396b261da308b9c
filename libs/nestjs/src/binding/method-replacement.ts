// oxlint-disable-next-line typescript/no-unsafe-function-type
type AnyFunction = Function;

/**
 * Puts a method in the place of another one, on the instance of a controller: the class stays untouched, because
 * another application of the process may use it. Guards, status codes and everything else that decorators left on
 * the method go along: they are found by the function.
 */
export function replaceMethod(instance: object, name: string, replacement: AnyFunction): void {
  standInFor((instance as Record<string, AnyFunction>)[name]!, replacement);
  Object.defineProperty(instance, name, { value: replacement, writable: true, configurable: true });
}

/** Whether a method can be replaced on an instance; one that froze itself lets nobody. */
export function canReplaceOn(instance: object): boolean {
  return Object.isExtensible(instance);
}

/** Gives a function what Nest looks for on the one that it stands in for. */
export function standInFor(original: AnyFunction, replacement: AnyFunction): void {
  for (const key of Reflect.getOwnMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), replacement);
  }
  for (const property of ['name', 'length'] as const) {
    Object.defineProperty(replacement, property, { value: original[property], configurable: true });
  }
}

/** The same method once more, so that it can have metadata of its own. */
export function copyOfMethod(instance: object, name: string): AnyFunction {
  const original = (instance as Record<string, AnyFunction>)[name]!;
  return function bound(this: unknown, ...args: unknown[]): unknown {
    return original.apply(this, args);
  };
}
