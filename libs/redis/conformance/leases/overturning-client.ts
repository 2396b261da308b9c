import { Redis } from 'ioredis';

/** A server alone that passes for a cluster whose client sends again what was lost, but in an order of its own. */
export class OverturningClient {
  decisions = 0;
  /** As the client of ioredis that it stands for. */
  readonly asCluster: object;
  readonly #redis: Redis;
  #held: (() => void)[] | null = null;
  #isHeldForOne = false;
  #onDecided = (): void => undefined;
  #answers = Promise.resolve();
  #answer = (): void => undefined;

  constructor(port: number) {
    this.#redis = new Redis(port, '127.0.0.1');
    this.asCluster = new Proxy(this.#redis, {
      get: (redis, name) => {
        if (name === 'isCluster') return true;
        if (name === 'eval') return this.#eval.bind(this);
        if (name === 'evalsha') return this.#decide.bind(this);
        const value: unknown = Reflect.get(redis, name, redis);
        return typeof value === 'function' ? (value.bind(redis) as unknown) : value;
      },
    });
  }

  /** In a cluster a release brings its text each time. */
  #eval(text: string, ...args: [number, ...string[]]): Promise<unknown> {
    const send = (): Promise<unknown> => this.#redis.eval(text, ...args);
    if (this.#held === null) return send();
    const held = this.#held;
    return new Promise((resolve, reject) => held.push(() => void send().then(resolve, reject)));
  }

  async #decide(sha: string, ...args: [number, ...string[]]): Promise<unknown> {
    this.decisions++;
    const sent = this.#redis.evalsha(sha, ...args);
    if (this.#isHeldForOne) this.letGo();
    const reply = await sent;
    setImmediate(this.#onDecided);
    await this.#answers;
    return reply;
  }

  /** What is decided from now on is answered later. */
  holdAnswers(): void {
    this.#answers = new Promise((resolve) => (this.#answer = resolve));
  }

  answer(): void {
    this.#answer();
  }

  holdReleases(until?: 'behind the next decision'): void {
    this.#held = [];
    this.#isHeldForOne = until !== undefined;
  }

  letGo(): void {
    const held = this.#held;
    this.#held = null;
    this.#isHeldForOne = false;
    for (const send of held ?? []) send();
  }

  /** Until a decision has been answered. */
  untilDecided(): Promise<void> {
    return new Promise((resolve) => (this.#onDecided = resolve));
  }

  close(): void {
    this.#redis.disconnect();
  }
}
