/** A door that handlers stand at until a test opens it. */
export class Gate {
  #waiting: (() => void)[] = [];
  #isOpen = false;
  /** How many have ever come to the door. */
  arrivals = 0;

  /** Resolves when the door opens. */
  pass(): Promise<void> {
    this.arrivals++;
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Lets the first one through. */
  letOneThrough(): void {
    this.#waiting.shift()?.();
  }

  /** Lets everybody through, now and later. */
  open(): void {
    this.#isOpen = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  get waiting(): number {
    return this.#waiting.length;
  }
}
