/** Whether code of the application answered with a promise, or with any other thenable. */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as Promise<T> | null | undefined)?.then === 'function';
}
