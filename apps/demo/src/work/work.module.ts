import type { DynamicModule } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import { CLOCK } from './clock.js';
import { Work } from './work.js';

/** Gives all scenarios the same clock and the same work. */
export class WorkModule {
  static with(clock: Clock): DynamicModule {
    return {
      module: WorkModule,
      global: true,
      providers: [{ provide: CLOCK, useValue: clock }, Work],
      exports: [CLOCK, Work],
    };
  }
}
