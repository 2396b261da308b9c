/** Where a method stands: decorators by name leave their metadata there. */
export interface MethodPlace {
  readonly owner: object;
  readonly key: string | symbol;
}

/** The prototype that has a method, the class's own or one that it extends. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function methodPlaceOf(controller: Function, handler: Function): MethodPlace | undefined {
  // Nearly every method has its name still. To search them all for each would take a boot the square of their number.
  const place = placeNamed(controller, handler.name);
  return place !== undefined && methodAt(place) === handler ? place : searched(controller, handler);
}

/** The nearest prototype of a class that has something of this name. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function placeNamed(controller: Function, key: string | symbol): MethodPlace | undefined {
  for (const owner of prototypesOf(controller)) {
    if (Object.hasOwn(owner, key)) return { owner, key };
  }
  return undefined;
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function searched(controller: Function, handler: Function): MethodPlace | undefined {
  for (const owner of prototypesOf(controller)) {
    const key = Reflect.ownKeys(owner).find((each) => methodAt({ owner, key: each }) === handler);
    if (key !== undefined) return { owner, key };
  }
  return undefined;
}

function methodAt({ owner, key }: MethodPlace): unknown {
  return Object.getOwnPropertyDescriptor(owner, key)?.value;
}

// oxlint-disable-next-line typescript/no-unsafe-function-type
function* prototypesOf(controller: Function): Generator<object> {
  let owner = controller.prototype as object | null;
  while (owner !== null && owner !== Object.prototype) {
    yield owner;
    owner = Object.getPrototypeOf(owner) as object | null;
  }
}
