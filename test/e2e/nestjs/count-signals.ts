/** Runs work, and counts the signals that are made meanwhile. */
export async function countSignals(work: () => Promise<void>): Promise<number> {
  const { AbortController: original } = globalThis;
  let made = 0;
  globalThis.AbortController = class extends original {
    constructor() {
      super();
      made++;
    }
  };
  try {
    await work();
  } finally {
    globalThis.AbortController = original;
  }
  return made;
}
