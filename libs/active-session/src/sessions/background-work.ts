/** What background work is given. */
export interface WorkContext<TProgress> {
  /** Aborts when the session ends or the work is cancelled: the work should then come to its end. */
  readonly signal: AbortSignal;
  /** Tells how far it is. */
  report(progress: TProgress): void;
}

/** Work that belongs to a session. */
export type Work<T, TProgress> = (context: WorkContext<TProgress>) => Promise<T>;

/** How background work stands. */
export type WorkStatus = 'running' | 'done' | 'failed' | 'cancelled';

/** Work that runs in the background of a session, whichever requests come and go. The session isn't idle meanwhile. */
export class BackgroundWork<T, TProgress = unknown> {
  /** The outcome. A rejection that nobody awaits is no unhandled one: {@link BackgroundWork.status} tells it too. */
  readonly result: Promise<T>;
  readonly #cancel = new AbortController();
  readonly #listeners = new Set<(progress: TProgress) => void>();
  #status: WorkStatus = 'running';
  #progress: TProgress | undefined = undefined;
  #error: unknown = undefined;

  /** @internal */
  constructor(work: Work<T, TProgress>) {
    this.result = this.#run(work, this.#cancel.signal);
    this.result.catch(() => undefined);
  }

  /** How it stands. */
  get status(): WorkStatus {
    return this.#status;
  }

  /** What it has reported last. */
  get progress(): TProgress | undefined {
    return this.#progress;
  }

  /** Why it failed or was cancelled. */
  get error(): unknown {
    return this.#error;
  }

  /** Has the work come to its end. */
  cancel(reason?: unknown): void {
    this.#cancel.abort(reason);
  }

  /**
   * Calls the listener with every later report.
   * @returns takes the wish back.
   */
  onProgress(listener: (progress: TProgress) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async #run(work: Work<T, TProgress>, signal: AbortSignal): Promise<T> {
    try {
      const result = await work({ signal, report: (progress) => this.#report(progress) });
      this.#status = 'done';
      return result;
    } catch (error) {
      this.#status = signal.aborted ? 'cancelled' : 'failed';
      this.#error = error;
      throw error;
    } finally {
      this.#listeners.clear();
    }
  }

  #report(progress: TProgress): void {
    if (this.#status !== 'running') return;
    this.#progress = progress;
    for (const listener of this.#listeners) listener(progress);
  }
}
