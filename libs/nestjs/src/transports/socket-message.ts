// Nest's, which exports no name for it from a package that is always there.
const MESSAGE = 'websockets:message_mapping';

/** Whether a method of a gateway handles messages. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function handlesSocketMessage(handler: Function): boolean {
  return Reflect.hasMetadata(MESSAGE, handler);
}
