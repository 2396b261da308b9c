const DISABLE = 'ratelease:disable';

/**
 * Takes every limit off a class or a method, the global limiter too. It wins over `@EnableRateLimiting()`,
 * whichever stands nearer; a method of a disabled class can't be enabled again, and the boot says so.
 */
export function DisableRateLimiting(): ClassDecorator & MethodDecorator {
  return (target: object, _key?: string | symbol, descriptor?: PropertyDescriptor) => {
    Reflect.defineMetadata(DISABLE, true, (descriptor?.value as object | undefined) ?? target);
  };
}

/** Whether a class (itself or one that it extends) or a method is disabled. */
export function isDisabled(target: object): boolean {
  return Reflect.getMetadata(DISABLE, target) === true;
}
