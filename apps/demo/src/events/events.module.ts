// A stream that keeps its permit until the client leaves.
//
//   curl -sNZ --parallel-immediate --no-progress-meter -m 5 "http://localhost:3000/events?client=[1-3]"
//   curl -sN -m 3 "http://localhost:3000/events?client=4"
import type { MessageEvent } from '@nestjs/common';
import { Controller, Module, Sse } from '@nestjs/common';
import { EnableRateLimiting } from '@ratelease/nestjs';
import type { Observable } from 'rxjs';
import { map } from 'rxjs';
import { Ticker } from './ticker.js';

@Controller('events')
class EventsController {
  readonly #ticker: Ticker;

  constructor(ticker: Ticker) {
    this.#ticker = ticker;
  }

  @Sse()
  @EnableRateLimiting('listeners')
  listen(): Observable<MessageEvent> {
    return this.#ticker.ticks().pipe(map((second) => ({ data: `second ${second}` })));
  }
}

@Module({ controllers: [EventsController], providers: [Ticker] })
export class EventsModule {}
