/** How much longer than its time an answer took at most, beside a timer of that time that was set just before it. */
export class Overtime {
  readonly #timeoutMs: number;
  mostMs = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** What a busy machine takes from the timer it takes from the answer too: it does not count. */
  async of<TAnswer>(ask: () => Promise<TAnswer>): Promise<TAnswer> {
    let timer: NodeJS.Timeout | undefined;
    const fired = new Promise<number>((resolve) => {
      timer = setTimeout(() => resolve(performance.now()), this.#timeoutMs);
    });
    const askedMs = performance.now();
    const answer = await ask();
    const answeredMs = performance.now();
    if (answeredMs - askedMs > this.#timeoutMs)
      this.mostMs = Math.max(this.mostMs, answeredMs - (await fired));
    clearTimeout(timer);
    return answer;
  }
}
