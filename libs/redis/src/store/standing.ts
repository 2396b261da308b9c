/** How the limiters of a group stand after a decision: permits left and µs until all are back, for each. */
export type Standing = readonly { readonly remaining: number; readonly resetUs: number }[];

/** What is known of a standing so many µs later, to somebody for whom more permits are there than the server told. */
export function standingLater(standing: Standing, passedUs: number, more = 0): Standing {
  return standing.map(({ remaining, resetUs }) => ({
    remaining: remaining + more,
    resetUs: Math.max(0, resetUs - passedUs),
  }));
}
