import { Logger } from '@nestjs/common';
import { enableMarkOf } from '../decorators/enable-rate-limiting.js';
import { OutsideExecution } from '../context/outside-execution.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import type { EndpointPlan, Phase } from '../endpoints/endpoint-plan.js';
import type { PlanBook } from '../endpoints/plan-book.js';
import type { Enforcement } from '../enforcement/enforcement.js';
import type { Connection } from './connection-gates.js';
import { CONNECTION_METHOD, setGate } from './connection-gates.js';
import { onLeft } from './peer.js';
import type { SocketClient } from './socket-client.js';
import { turnAway } from './socket-client.js';

/** Arguments of a connection are known from the start: all phases are the same moment. */
const PHASES: readonly Phase[] = ['guard', 'interceptor', 'args'];
const BROKEN = { status: 'error', message: 'Internal server error' };

/** Limits the connections of WebSocket gateways: a permit is held until the client has left. */
export class ConnectionLimits {
  readonly #plans: PlanBook;
  readonly #enforcement: Enforcement;
  readonly #logger = new Logger('RateLimiting');

  constructor(plans: PlanBook, enforcement: Enforcement) {
    this.#plans = plans;
    this.#enforcement = enforcement;
  }

  /** Takes over the connections of a gateway whose method for them has a limit. */
  register({ instance, methodName, controller, handler }: DiscoveredEndpoint): void {
    if (instance === undefined || methodName !== CONNECTION_METHOD) return;
    if (enableMarkOf(controller, handler) === undefined) return;
    setGate(instance, (connection) => this.#admit(connection));
  }

  #admit(connection: Connection): unknown {
    const { gateway, handler, run } = connection;
    const plan = this.#plans.planOf(gateway.constructor, handler);
    return plan === null ? run() : this.#ask(connection, plan);
  }

  async #ask({ gateway, handler, args, run }: Connection, plan: EndpointPlan): Promise<unknown> {
    const client = args[0] as SocketClient;
    const execution = new ConnectionExecution(gateway.constructor, handler, args);
    const holder = this.#enforcement.holderOfConnection(execution, plan);
    holder.context.args = args;
    onLeft(client, () => holder.close(false));
    try {
      for (const phase of PHASES) if (!(await this.#enforcement.pass(phase, holder))) return undefined;
    } catch (error) {
      this.#refuse(client, error);
      return undefined;
    }
    return run();
  }

  #refuse(client: SocketClient, error: unknown): void {
    const refusal = (error as { getError?(): unknown }).getError?.();
    if (typeof refusal === 'object' && refusal !== null) return turnAway(client, refusal, 'refused');
    const isGone = (error as Error | undefined)?.name === 'ClientGoneException';
    if (!isGone) this.#logger.error(error);
    turnAway(client, BROKEN, 'broken');
  }
}

/** Stands for Nest's context, which connections have none of. */
class ConnectionExecution extends OutsideExecution {
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly #class: Function;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly #handler: Function;

  // oxlint-disable-next-line typescript/no-unsafe-function-type
  constructor(type: Function, handler: Function, args: readonly unknown[]) {
    super('ws', args);
    this.#class = type;
    this.#handler = handler;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Nest's interface has it
  override getClass<T>(): T {
    return this.#class as T;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- Nest's interface has it
  override getHandler<T>(): T {
    return this.#handler as T;
  }
}
