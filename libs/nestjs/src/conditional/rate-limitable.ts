/** Whether a class declares `isLimit` as a member of its prototype: a getter, as a rule. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function declaresLimit(type: Function): boolean {
  return declaringPrototype(type.prototype as object | null) !== undefined;
}

/**
 * Whether an argument is `RateLimitable` and says `isLimit`. What came in with the request doesn't count: an own
 * property may be the client's, so it is read past it, from the class.
 *
 * @param declared - the class that the parameter was declared with. Where the class knows `isLimit` and the
 * argument is plain JSON all the same, nobody can ask it: then the limit applies.
 */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isLimited(argument: unknown, declared: Function | undefined): boolean {
  if (typeof argument !== 'object' || argument === null) return false;
  if (isPlain(argument)) return declared !== undefined && declaresLimit(declared);
  const prototype = declaringPrototype(Object.getPrototypeOf(argument) as object);
  if (prototype !== undefined) return Reflect.get(prototype, 'isLimit', argument) === true;
  return Object.hasOwn(argument, 'isLimit') && saysByField(argument);
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || prototype === Object.prototype;
}

/** Only prototypes of classes: JSON with `__proto__` can have become one, too. */
function declaringPrototype(start: object | null): object | undefined {
  for (let prototype = start; prototype !== null; prototype = Object.getPrototypeOf(prototype) as object) {
    if (prototype === Object.prototype) return undefined;
    if (Object.hasOwn(prototype, 'isLimit') && classOf(prototype) !== undefined) return prototype;
  }
  return undefined;
}

function classOf(prototype: object): (new () => object) | undefined {
  const type = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value as unknown;
  return typeof type === 'function' && type.prototype === prototype ? (type as new () => object) : undefined;
}

/** What new instances of a class have as `isLimit`; `null` where they don't have it. */
const fields = new WeakMap<object, PropertyDescriptor | null>();

/**
 * A field with an initial value, such as `isLimit = true`, is the class's as well. Which value the property has
 * now may be the client's doing: it can limit itself, but not free itself.
 */
function saysByField(argument: object): boolean {
  const type = classOf(Object.getPrototypeOf(argument) as object);
  if (type === undefined) return false;
  let field = fields.get(type);
  if (field === undefined) fields.set(type, (field = fieldOf(type)));
  if (field === null) return false;
  return field.value === true || (argument as { isLimit?: unknown }).isLimit === true;
}

/** Pipes that transform make instances without arguments, too. */
function fieldOf(type: new () => object): PropertyDescriptor | null {
  try {
    return Object.getOwnPropertyDescriptor(new type(), 'isLimit') ?? null;
  } catch {
    return null;
  }
}
