// Nest's, which exports no names for them from a package that is always there.
const GATEWAY = 'websockets:is_gateway';

/** The method of a gateway that Nest calls for every client that connects. */
export const CONNECTION_METHOD = 'handleConnection';

/** Whether a class is a gateway for sockets. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function isGateway(type: Function): boolean {
  return Reflect.hasMetadata(GATEWAY, type);
}
