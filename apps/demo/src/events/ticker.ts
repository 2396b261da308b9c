import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
import type { Clock, ClockTimer } from '@ratelease/limiters';
import { Observable, Subject, takeUntil } from 'rxjs';
import { CLOCK } from '../work/clock.js';

/** Counts the seconds for everybody who listens, until the demo ends. */
@Injectable()
export class Ticker implements OnModuleDestroy {
  readonly #clock: Clock;
  readonly #end = new Subject<void>();
  #listeners = 0;

  constructor(@Inject(CLOCK) clock: Clock) {
    this.#clock = clock;
  }

  /** How many listen at present. */
  get listeners(): number {
    return this.#listeners;
  }

  /** 0 at once, then 1, 2, 3, one each second. */
  ticks(): Observable<number> {
    return new Observable<number>((subscriber) => {
      let timer: ClockTimer | undefined;
      let count = 0;
      const tick = (): void => {
        timer = this.#clock.setTimer(tick, 1_000);
        subscriber.next(count++);
      };
      this.#listeners++;
      tick();
      return () => {
        this.#listeners--;
        timer?.cancel();
      };
    }).pipe(takeUntil(this.#end));
  }

  /** A server that ends waits for its open responses. */
  onModuleDestroy(): void {
    this.#end.next();
  }
}
