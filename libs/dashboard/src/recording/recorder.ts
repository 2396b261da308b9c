import type { Clock } from '@ratelease/limiters';
import type {
  AcquiredEvent,
  PolicyDetail,
  PolicyOverview,
  RateLimitingEvent,
  RateLimitingService,
  RefusedEvent,
} from '@ratelease/nestjs';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { HeldLeases } from './held-leases.js';
import { keyText } from './key-display.js';
import { PolicyRecord } from './policy-record.js';
import { RecentKeys } from './recent-keys.js';

/** What is recorded of a policy. */
export interface RecordedPolicy {
  readonly record: PolicyRecord;
  readonly keys: RecentKeys;
  /** Whether it was seen to refuse in shadow mode. */
  isShadow: boolean;
}

type Listener = (message: unknown) => void;

/**
 * Notes what an application's limits do, from the events of the diagnostics channels. Its memory grows with the
 * number of policies alone. It has no timer.
 */
export class Recorder {
  readonly #service: RateLimitingService;
  readonly #clock: Clock;
  readonly #policies = new Map<string, RecordedPolicy>();
  readonly leases = new HeldLeases();
  readonly #listeners: readonly (readonly [channel: string, listener: Listener])[];
  #isRecording = false;

  constructor(service: RateLimitingService, clock: Clock) {
    this.#service = service;
    this.#clock = clock;
    this.#listeners = [
      this.#listener('acquired', (event, details) => this.#acquired(event as AcquiredEvent, details)),
      this.#listener('refused', (event, details) => this.#refused(event as RefusedEvent, details)),
      this.#listener('released', ({ acquisition }) => this.leases.remove(acquisition)),
      this.#listener('queued', () => undefined),
      this.#listener('canceled', () => undefined),
    ];
  }

  /** The present second of the clock. */
  get second(): number {
    return Math.floor(this.#clock.now() / 1_000);
  }

  /** Begins to listen; does nothing while it does. */
  start(): void {
    if (this.#isRecording) return;
    this.#isRecording = true;
    for (const [channel, listener] of this.#listeners) subscribe(channel, listener);
  }

  /** Listens no more. */
  stop(): void {
    if (!this.#isRecording) return;
    this.#isRecording = false;
    for (const [channel, listener] of this.#listeners) unsubscribe(channel, listener);
    this.leases.clear();
  }

  /** All policies, in the order of the overview, which also says how they stand now. */
  policies(): readonly { readonly overview: PolicyOverview; readonly recorded: RecordedPolicy }[] {
    return this.#service.overview().map((overview) => {
      const recorded = this.#of(overview.policy);
      recorded.record.gauge(this.second, overview.queued, overview.inUse);
      return { overview, recorded };
    });
  }

  #listener(
    name: string,
    note: (event: RateLimitingEvent, details: readonly PolicyDetail[]) => void,
  ): readonly [string, Listener] {
    const listener = (message: unknown): void => {
      const event = message as RateLimitingEvent;
      const details = this.#service.explain(event);
      if (details === undefined) return;
      const { second } = this;
      for (const { policy, queued, inUse } of details) this.#of(policy).record.gauge(second, queued, inUse);
      note(event, details);
    };
    return [`ratelease:${name}`, listener];
  }

  #acquired(event: AcquiredEvent, details: readonly PolicyDetail[]): void {
    const { second } = this;
    for (const detail of details) {
      const { record, keys } = this.#of(detail.policy);
      record.granted(second);
      if (event.waitedMs > 0 && detail.mayWait) record.waited(second, event.waitedMs);
      if (detail.key !== undefined) keys.count(second, keyText(detail.key), false);
    }
    const holds = details
      .filter(({ holdsPermits }) => holdsPermits)
      .map(({ policy, key }) => ({ policy, key: key === undefined ? '' : keyText(key) }));
    if (holds.length === 0) return;
    const { endpoint, acquisition } = event;
    this.leases.add(acquisition, { endpoint, holds, sinceMs: this.#clock.now() });
  }

  #refused(event: RefusedEvent, details: readonly PolicyDetail[]): void {
    const { second } = this;
    const detail = details.find(({ policy }) => policy === event.policyName);
    if (detail === undefined) return;
    const recorded = this.#of(detail.policy);
    if (event.isShadow) recorded.isShadow = true;
    recorded.record.refused(second);
    if (event.waitedMs > 0 && detail.mayWait) recorded.record.waited(second, event.waitedMs);
    if (detail.key !== undefined) recorded.keys.count(second, keyText(detail.key), true);
  }

  #of(policy: string): RecordedPolicy {
    let recorded = this.#policies.get(policy);
    if (recorded === undefined) {
      recorded = { record: new PolicyRecord(this.second), keys: new RecentKeys(), isShadow: false };
      this.#policies.set(policy, recorded);
    }
    return recorded;
  }
}
