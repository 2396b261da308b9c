/**
 * The key under which a limiter of your own says, with `true`, that its `idleDurationMs` only grows by the clock
 * between its calls. A partitioned limiter then looks at it when its time is over, and not every now and then.
 */
export const foreseeableIdle: unique symbol = Symbol.for('ratelease.foreseeable-idle') as never;
