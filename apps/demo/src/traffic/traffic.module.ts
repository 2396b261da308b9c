import { Body, Controller, Delete, Get, Header, HttpCode, Module, Post } from '@nestjs/common';
import { DisableRateLimiting } from '@ratelease/nestjs';
import { CONTROLS } from './controls.generated.js';
import { readPlan } from './read-plan.js';
import type { TrafficState } from './traffic-state.js';
import { Traffic } from './traffic.js';

/** What the controls on the dashboard ask for. */
@Controller('traffic')
@DisableRateLimiting()
class TrafficController {
  readonly #traffic: Traffic;

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
  }

  @Get('controls.js')
  @Header('Content-Type', 'text/javascript; charset=utf-8')
  @Header('Cache-Control', 'no-cache')
  controls(): string {
    return CONTROLS;
  }

  @Get()
  state(): TrafficState {
    return this.#traffic.state;
  }

  @Post()
  @HttpCode(202)
  start(@Body() body: unknown): TrafficState {
    this.#traffic.start(readPlan(body));
    return this.#traffic.state;
  }

  @Delete()
  stop(): TrafficState {
    this.#traffic.stop();
    return this.#traffic.state;
  }
}

@Module({ controllers: [TrafficController], providers: [Traffic] })
export class TrafficModule {}
