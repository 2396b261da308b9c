import type { Clock, ClockTimer } from '@ratelease/limiters';
import type { ClientRequest } from 'node:http';
import { Agent, request } from 'node:http';
import { arrivals } from './arrivals.js';
import type { Target } from './targets.js';
import type { TrafficPlan } from './traffic-plan.js';
import type { TrafficState } from './traffic-state.js';
import { NO_TRAFFIC } from './traffic-state.js';

/** Sends the requests of a plan over real sockets, until they are all answered or somebody stops it. */
export class TrafficRun {
  readonly #target: Target;
  readonly #clock: Clock;
  readonly #server: { readonly host: string; readonly port: number };
  readonly #concurrency: number;
  readonly #coming: ReturnType<typeof arrivals>;
  readonly #startedAt: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #requests = new Set<ClientRequest>();
  #timer: ClockTimer | undefined = undefined;
  #next = 0;
  #state = { ...NO_TRAFFIC, answers: {} as Record<string, number> };

  // oxlint-disable-next-line eslint/max-params -- what, where to, whose time
  constructor(plan: TrafficPlan, target: Target, server: { host: string; port: number }, clock: Clock) {
    this.#target = target;
    this.#server = server;
    this.#clock = clock;
    this.#concurrency = plan.concurrency;
    this.#coming = arrivals(plan);
    this.#startedAt = clock.now();
    this.#sendDue();
  }

  /** How it goes. */
  get state(): TrafficState {
    const isRunning = this.#timer !== undefined || this.#state.onTheirWay > 0;
    return { ...this.#state, isRunning };
  }

  /** Sends nothing more, and leaves what isn't answered. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const request of this.#requests) request.destroy();
    this.#agent.destroy();
  }

  #sendDue(): void {
    const elapsedMs = this.#clock.now() - this.#startedAt;
    while (this.#next < this.#coming.length && this.#coming[this.#next]!.atMs <= elapsedMs) {
      const { client } = this.#coming[this.#next++]!;
      if (this.#state.onTheirWay < this.#concurrency) this.#send(client);
      else this.#state = { ...this.#state, heldBack: this.#state.heldBack + 1 };
    }
    const next = this.#coming[this.#next];
    this.#timer =
      next === undefined ? undefined : this.#clock.setTimer(() => this.#sendDue(), next.atMs - elapsedMs);
  }

  #send(client: number): void {
    const { path, headers, leavesAfterMs } = this.#target;
    this.#count({ sent: 1, onTheirWay: 1 });
    let leaves: ClockTimer | undefined;
    let status: number | undefined;
    const outgoing = request({
      ...this.#server,
      path,
      headers: headers(client),
      agent: this.#agent,
    });
    this.#requests.add(outgoing);
    outgoing.on('response', (response) => {
      status = response.statusCode;
      response.on('error', () => undefined).resume();
      if (leavesAfterMs !== undefined) leaves = this.#clock.setTimer(() => outgoing.destroy(), leavesAfterMs);
    });
    outgoing.on('error', () => undefined);
    outgoing.on('close', () => {
      leaves?.cancel();
      this.#requests.delete(outgoing);
      this.#count({ onTheirWay: -1, unanswered: status === undefined ? 1 : 0 });
      if (status !== undefined) this.#state.answers[status] = (this.#state.answers[status] ?? 0) + 1;
      if (!this.state.isRunning) this.#agent.destroy();
    });
    outgoing.end();
  }

  #count(changes: Partial<Record<'sent' | 'onTheirWay' | 'unanswered', number>>): void {
    const { sent = 0, onTheirWay = 0, unanswered = 0 } = changes;
    this.#state = {
      ...this.#state,
      sent: this.#state.sent + sent,
      onTheirWay: this.#state.onTheirWay + onTheirWay,
      unanswered: this.#state.unanswered + unanswered,
    };
  }
}
