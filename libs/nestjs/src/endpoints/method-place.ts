/** Where a method stands: decorators by name leave their metadata there. */
export interface MethodPlace {
  readonly owner: object;
  readonly key: string | symbol;
}

/** The prototype that has a method, the class's own or one that it extends. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function methodPlaceOf(controller: Function, handler: Function): MethodPlace | undefined {
  let owner = controller.prototype as object | null;
  while (owner !== null && owner !== Object.prototype) {
    for (const key of Reflect.ownKeys(owner)) {
      if (Object.getOwnPropertyDescriptor(owner, key)?.value === handler) return { owner, key };
    }
    owner = Object.getPrototypeOf(owner) as object | null;
  }
  return undefined;
}
