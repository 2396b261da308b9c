import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import type { Clock } from '@ratelease/limiters';
import type { KeyDisplay } from '../recording/key-display.js';
import type { Recording } from '../stream/live-stream.js';

/** Options of `RateLimitingDashboardModule`. */
export interface RateLimitingDashboardOptions {
  /**
   * Who may look: guards of yours, classes or instances, asked for the page, its files and its stream. Or
   * `'unguarded'`, for everybody who reaches the application: on a developer's machine, or where something before
   * the application decides.
   */
  readonly guards: readonly (Type<CanActivate> | CanActivate)[] | 'unguarded';
  /** Modules that have what the guards inject. @defaultValue none */
  readonly imports?: ModuleMetadata['imports'];
  /** Where the page is, below the application's global prefix. @defaultValue `'rate-limits'` */
  readonly path?: string | undefined;
  /** What the page is called. @defaultValue `'Rate limits'` */
  readonly title?: string | undefined;
  /** How keys are shown; they may be personal data. @defaultValue `'hashed'` */
  readonly keys?: KeyDisplay | undefined;
  /**
   * `'whileWatched'`: what nobody watches costs nothing, and isn't remembered. `'always'`: who opens the page sees the
   * last five minutes. @defaultValue `'whileWatched'`
   */
  readonly recording?: Recording | undefined;
  /**
   * Addresses of JavaScript modules of this application that the page loads, to add controls of your own to its
   * element `#extensions`. @defaultValue none
   */
  readonly scripts?: readonly string[] | undefined;
  /** The source of time; must be that of the limiters. @defaultValue the monotonic clock of the process */
  readonly clock?: Clock | undefined;
}
