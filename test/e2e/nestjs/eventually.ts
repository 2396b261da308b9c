/** Waits, turn by turn of the event loop, until a condition holds. For what other processes or sockets decide. */
export async function eventually(condition: () => boolean, withinMs = 10_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline)
      throw new Error(`Still not so after ${withinMs} ms: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
