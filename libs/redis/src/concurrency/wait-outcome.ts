/** How a wait in the server's queue ends; `lost`: its place is gone, it has to ask again. */
export type WaitEnd = 'granted' | 'evicted' | 'lost' | 'disposed';

/** The end of a wait, and the permits that the server had left then, as far as is known here. */
export interface WaitOutcome {
  readonly end: WaitEnd;
  readonly remaining: number;
}

/** Ends a wait. */
export type SettleWait = (outcome: WaitOutcome) => void;
