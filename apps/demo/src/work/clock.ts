/** Injects the demo's clock, which is also that of all its limiters. */
export const CLOCK = Symbol('clock');
