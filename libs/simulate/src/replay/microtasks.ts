/**
 * Resolves when every promise that can settle now has told those who wait for it. Node runs the callbacks of
 * `nextTick` when the microtasks are done, those that microtasks add included; the first `await` leaves whatever the
 * caller was called from.
 */
export async function microtasksDone(): Promise<void> {
  await undefined;
  await new Promise<void>((resolve) => process.nextTick(resolve));
}
