/** How traffic goes. */
export interface TrafficState {
  readonly isRunning: boolean;
  readonly sent: number;
  readonly onTheirWay: number;
  /** Answers by status. */
  readonly answers: Readonly<Record<string, number>>;
  /** Requests that got no answer: broken, or left by their client. */
  readonly unanswered: number;
  /** Requests that would have been too many at once. */
  readonly heldBack: number;
}

/** Traffic that never was. */
export const NO_TRAFFIC: TrafficState = {
  isRunning: false,
  sent: 0,
  onTheirWay: 0,
  answers: {},
  unanswered: 0,
  heldBack: 0,
};
