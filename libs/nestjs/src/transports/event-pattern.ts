// Nest's, which exports no names for them from a package that is always there.
const HANDLER_TYPE = 'microservices:handler_type';
const EVENT = 2;

/** Whether a handler of a microservice is for events, which nobody waits for an answer of. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function handlesEvent(handler: Function | undefined): boolean {
  return handler !== undefined && Reflect.getMetadata(HANDLER_TYPE, handler) === EVENT;
}
