/** Makes an exception of a package that only applications with its transport have. */
type Make = (data: object, cause: Error) => Error;

/** Loaded at the first refusal, so that nobody needs the packages of transports that he doesn't use. */
let ws: Promise<Make> | undefined;
let rpc: Promise<Make> | undefined;

/** Nest's exception for WebSockets: the client receives the data as the event `exception`. */
export async function wsExceptionOf(data: object, cause: Error): Promise<Error> {
  ws ??= import('@nestjs/websockets').then(({ WsException }) => made((content) => new WsException(content)));
  return (await ws)(data, cause);
}

/** Nest's exception for microservices: the client's observable fails with the data. */
export async function rpcExceptionOf(data: object, cause: Error): Promise<Error> {
  rpc ??= import('@nestjs/microservices').then(({ RpcException }) =>
    made((content) => new RpcException(content)),
  );
  return (await rpc)(data, cause);
}

/** Filters find the refusal with its lease as the cause. */
function made(make: (data: object) => Error): Make {
  return (data, cause) => Object.assign(make(data), { cause });
}
