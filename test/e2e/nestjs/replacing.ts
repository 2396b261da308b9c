/** A decorator that puts another function in the place of its method, as those of others do that know nothing of metadata. */
export function Replacing(): MethodDecorator {
  return (_target, _key, descriptor: PropertyDescriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function replaced(this: unknown, ...args: unknown[]) {
      return method.apply(this, args);
    };
  };
}
