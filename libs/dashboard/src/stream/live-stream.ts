import type { MessageEvent } from '@nestjs/common';
import type { Clock, ClockTimer } from '@ratelease/limiters';
import { concat, defer, map, Observable, of, share, Subject, takeUntil, takeWhile } from 'rxjs';
import type { Recorder } from '../recording/recorder.js';
import type { Snapshots } from './snapshots.js';

const PERIOD_MS = 1_000;
/** Then the page connects anew, and the guards are asked again. */
const LONGEST_STREAM_MS = 5 * 60_000;
const RECONNECT_AFTER_MS = 1_000;

/** When to record: from the boot on, or only while somebody looks. */
export type Recording = 'always' | 'whileWatched';

/** The snapshots for all who watch: made once a second for all of them together, by one timer, and by none for nobody. */
export class LiveStream {
  readonly #recorder: Recorder;
  readonly #snapshots: Snapshots;
  readonly #clock: Clock;
  readonly #end = new Subject<void>();
  readonly #ticks: Observable<string>;

  constructor(recorder: Recorder, snapshots: Snapshots, clock: Clock, recording: Recording) {
    this.#recorder = recorder;
    this.#snapshots = snapshots;
    this.#clock = clock;
    this.#ticks = new Observable<string>((subscriber) => {
      recorder.start();
      const stopTicking = this.#tick((snapshot) => subscriber.next(snapshot));
      return () => {
        stopTicking();
        if (recording === 'whileWatched') recorder.stop();
      };
    }).pipe(share());
  }

  /** The past at once, then each second what is new. */
  watch(): Observable<MessageEvent> {
    return defer(() => {
      const endsAt = this.#clock.now() + LONGEST_STREAM_MS;
      return concat(of(this.#past()), this.#ticks).pipe(takeWhile(() => this.#clock.now() < endsAt));
    }).pipe(
      map((data) => ({ data, retry: RECONNECT_AFTER_MS })),
      takeUntil(this.#end),
    );
  }

  /** Ends all streams: a server that closes waits for its responses. */
  close(): void {
    this.#end.next();
    this.#end.complete();
    this.#recorder.stop();
  }

  #past(): string {
    return JSON.stringify(this.#snapshots.history());
  }

  /** Calls back once a second, until the returned function is called. */
  #tick(next: (snapshot: string) => void): () => void {
    let { second } = this.#recorder;
    second--;
    let timer: ClockTimer | undefined;
    const wait = (): void => {
      timer = this.#clock.setTimer(tick, PERIOD_MS, { background: true });
    };
    const tick = (): void => {
      wait();
      const snapshot = this.#snapshots.since(second);
      second = Math.max(second, snapshot.until);
      next(JSON.stringify(snapshot));
    };
    wait();
    return () => timer?.cancel();
  }
}
