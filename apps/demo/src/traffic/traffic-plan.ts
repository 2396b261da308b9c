/** How requests are spread over time. */
export type Shape = 'steady' | 'burst' | 'ramp' | 'greedy';

/** What traffic to send. */
export interface TrafficPlan {
  /** Where to: the id of a target. */
  readonly target: string;
  readonly shape: Shape;
  /** Requests per second; for a burst, how many come at once, every five seconds. */
  readonly rate: number;
  /** From how many addresses. */
  readonly clients: number;
  /** How many may be on their way at once; what would be more isn't sent. */
  readonly concurrency: number;
  readonly seconds: number;
}
