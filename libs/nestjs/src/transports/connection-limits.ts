import { Logger } from '@nestjs/common';
import { gatesOf } from '../binding/method-gates.js';
import { OutsideExecution } from '../context/outside-execution.js';
import type { DiscoveredEndpoint } from '../endpoints/endpoint-discovery.js';
import type { EndpointPlan, Phase } from '../endpoints/endpoint-plan.js';
import { endpointName } from '../endpoints/endpoint-rule.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';
import type { Enforcement } from '../enforcement/enforcement.js';
import { frozenClass } from '../binding/frozen-class.js';
import { onLeft } from './peer.js';
import type { SocketClient } from './socket-client.js';
import { turnAway } from './socket-client.js';

/** Arguments of a connection are known from the start, and no middleware sees it: all phases are the same moment. */
const PHASES: readonly Phase[] = ['middleware', 'guard', 'interceptor', 'args', 'condition'];
const BROKEN = { status: 'error', message: 'Internal server error' };

/** A client that connects to a gateway. */
interface Connection {
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly controller: Function;
  // oxlint-disable-next-line typescript/no-unsafe-function-type
  readonly handler: Function;
  /** What the gateway's method gets: the client first. */
  readonly args: readonly unknown[];
  /** Calls the gateway's method. */
  readonly run: () => unknown;
}

/** Limits the connections of WebSocket gateways: a permit is held until the client has left. */
export class ConnectionLimits {
  readonly #enforcement: Enforcement;
  readonly #logger = new Logger('RateLimiting');

  constructor(enforcement: Enforcement) {
    this.#enforcement = enforcement;
  }

  /**
   * Takes over the connections of a gateway.
   *
   * @throws RateLimitingConfigurationError `ERR_RL_INVALID_ENDPOINT` - for a gateway that is made per client, and for
   * one whose class is frozen.
   */
  register({ instance, controller, handler }: DiscoveredEndpoint, plan: EndpointPlan): void {
    if (instance === undefined) {
      throw new RateLimitingConfigurationError(
        'ERR_RL_INVALID_ENDPOINT',
        `${endpointName(controller, handler)} has a limit on connections, which needs a gateway that lives as long as the ` +
          'application. Make the gateway a singleton.',
      );
    }
    const gates = gatesOf(handler);
    if (gates === undefined) throw frozenClass(controller, handler);
    gates.set(instance, (args, run) => this.#ask({ controller, handler, args, run }, plan));
  }

  async #ask({ controller, handler, args, run }: Connection, plan: EndpointPlan): Promise<unknown> {
    const client = args[0] as SocketClient;
    const execution = new ConnectionExecution(controller, handler, args);
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
