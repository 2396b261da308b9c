const KEY = Symbol.for('ratelease.copies');

type Classes = Map<string, Set<object>>;

const classes = ((globalThis as Record<symbol, unknown>)[KEY] ??= new Map()) as Classes;

/**
 * Finds the classes that other loaded copies of a package have in the place of one of its own. A class that
 * applications inject by itself is another one in each copy (loaded by `import` and by `require`): a module provides
 * its instance under all of them.
 *
 * @param name - what the copies have in common: package and class.
 * @param own - the class of the calling copy; from now on the other copies find it.
 * @returns those of the copies that have called this by now.
 */
export function otherCopies<T extends object>(name: string, own: T): readonly T[] {
  let copies = classes.get(name);
  if (copies === undefined) classes.set(name, (copies = new Set()));
  copies.add(own);
  return [...copies].filter((copy) => copy !== own) as T[];
}
