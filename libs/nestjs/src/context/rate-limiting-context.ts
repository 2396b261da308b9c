import type { ExecutionContext } from '@nestjs/common';

/**
 * A value whose type only the application knows: its request class, its user. `unknown` would force a cast in
 * every partitioner.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type ApplicationValue = any;

/** The kinds of Nest's execution contexts. */
export type RateLimitingContextType = 'http' | 'ws' | 'rpc' | 'graphql';

/**
 * What policies, key functions and conditions receive: one object for the whole handling of a request (in
 * GraphQL: of a resolver call, over WebSockets and microservices: of a message).
 */
export interface RateLimitingContext {
  /** What Nest calls the kind of the context. */
  readonly type: RateLimitingContextType;
  /** The framework's request; over WebSockets the client, for microservices the transport's context. */
  readonly request: ApplicationValue;
  /** The framework's response, where there is one. */
  readonly response: ApplicationValue;
  /**
   * `request.user`, as authentication left it; over WebSockets and `graphql-ws` also what it has left on the connection
   * (`data.user`, `extra.user`). Read at each access.
   */
  readonly user: ApplicationValue;
  /**
   * The client's address: the framework's `request.ip`, which honours its trusted-proxy setting, without a port
   * and with IPv4-mapped addresses as IPv4. `undefined` where there is none.
   */
  readonly clientIp: string | undefined;
  /** The same with IPv6 cut to its network (`ipv6SubnetPrefix`, 64 by default): one customer, one key. */
  readonly clientNetwork: string | undefined;
  /** The method that handles the request; `undefined` before routing and in code outside handlers. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly handler: Function | undefined;
  /** The class that the method belongs to; `undefined` where there is no method. */
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly controller: Function | undefined;
  /** Nest's own context, for everything else. */
  readonly execution: ExecutionContext;
  /** Aborts when nobody waits for the answer any more: the client left, or the application shuts down. */
  readonly signal: AbortSignal;
  /** The handler's arguments after pipes; only in the handler phase, else `undefined`. */
  readonly args: readonly unknown[] | undefined;
}
