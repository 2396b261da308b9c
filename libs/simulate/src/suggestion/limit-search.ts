/** Tells for each of some limits, in ascending order, whether what is wanted holds there. */
export type HoldsAt = (limits: readonly number[]) => Promise<readonly boolean[]>;

/** So many limits are tried in one pass through the trace: reading it costs about as much as deciding. */
const TRIED_TOGETHER = 8;

/**
 * Finds a limit where something holds, and doesn't hold at the limit below. It is the smallest where it holds if what
 * holds at a limit holds at all larger ones.
 *
 * @param highest - no limit above it is tried.
 * @returns `null` where it holds at none that was tried, `highest` among them.
 */
export async function searchLimit(holdsAt: HoldsAt, highest: number): Promise<number | null> {
  // Between them: it doesn't hold at `low` (0 is no limit), and holds at `high`.
  let low = 0;
  let high: number | null = null;
  while (high === null ? low < highest : high - low > 1) {
    const limits: number[] = high === null ? upwards(low, highest) : between(low, high);
    // oxlint-disable-next-line no-await-in-loop -- each pass says where the next looks
    const holds = await holdsAt(limits);
    const first = holds.indexOf(true);
    if (first !== -1) high = limits[first]!;
    low = limits[(first === -1 ? limits.length : first) - 1] ?? low;
  }
  return high;
}

/** The next powers, the last of them no more than the highest. */
function upwards(low: number, highest: number): number[] {
  const start = Math.max(1, low * TRIED_TOGETHER);
  const powers = Array.from({ length: TRIED_TOGETHER }, (_, power) => start * TRIED_TOGETHER ** power);
  return [...new Set(powers.map((limit) => Math.min(limit, highest)))];
}

/** Limits that cut what lies between two into parts of about one size. */
function between(low: number, high: number): number[] {
  const parts = Math.min(TRIED_TOGETHER + 1, high - low);
  return Array.from({ length: parts - 1 }, (_, cut) => low + Math.floor(((high - low) * (cut + 1)) / parts));
}
