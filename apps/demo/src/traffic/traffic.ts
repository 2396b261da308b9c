import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Clock } from '@ratelease/limiters';
import type { AddressInfo } from 'node:net';
import { CLOCK } from '../work/clock.js';
import { TARGETS } from './targets.js';
import type { TrafficPlan } from './traffic-plan.js';
import { TrafficRun } from './traffic-run.js';
import type { TrafficState } from './traffic-state.js';
import { NO_TRAFFIC } from './traffic-state.js';

/** The traffic that the demo sends to itself: one plan at a time. */
@Injectable()
export class Traffic implements OnModuleDestroy {
  readonly #adapterHost: HttpAdapterHost;
  readonly #clock: Clock;
  #run: TrafficRun | undefined = undefined;

  constructor(adapterHost: HttpAdapterHost, @Inject(CLOCK) clock: Clock) {
    this.#adapterHost = adapterHost;
    this.#clock = clock;
  }

  /** How the last plan goes. */
  get state(): TrafficState {
    return this.#run?.state ?? NO_TRAFFIC;
  }

  /** Begins a plan, in place of the last one. */
  start(plan: TrafficPlan): void {
    this.stop();
    const target = TARGETS.find(({ id }) => id === plan.target)!;
    const server = this.#adapterHost.httpAdapter.getHttpServer() as { address(): AddressInfo };
    this.#run = new TrafficRun(plan, target, { host: 'localhost', port: server.address().port }, this.#clock);
  }

  /** Ends it. */
  stop(): void {
    this.#run?.stop();
  }

  onModuleDestroy(): void {
    this.stop();
  }
}
