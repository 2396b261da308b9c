import type { NamedPolicy } from '../policies/checked-policy.js';
import { GrowingTimeline } from './growing-timeline.js';
import type { Outcome } from './outcome-tally.js';
import { OutcomeTally } from './outcome-tally.js';
import type { KeyReport, PolicyReport } from './simulation-report.js';
import { WaitTimes } from './wait-times.js';

/** What a replay collects about a policy: a few numbers for each key, and no more for each request. */
export class PolicyResults {
  outside = 0;
  withoutKey = 0;
  #gaveUp = 0;
  readonly #total = new OutcomeTally();
  readonly #byKey = new Map<string, OutcomeTally>();
  readonly #waits = new WaitTimes();
  readonly #timeline: GrowingTimeline;

  constructor(stepMs: number | undefined) {
    this.#timeline = new GrowingTimeline(stepMs);
  }

  /** @param timeMs - when the request came. */
  add(key: string, timeMs: number, result: { readonly isGranted: boolean; readonly waitedMs: number }): void {
    const { isGranted, waitedMs } = result;
    const outcome: Outcome = !isGranted ? 'refused' : waitedMs > 0 ? 'grantedAfterWait' : 'grantedAtOnce';
    if (outcome === 'grantedAfterWait') this.#waits.add(waitedMs);
    if (outcome === 'refused' && waitedMs > 0) this.#gaveUp++;
    this.#total[outcome]++;
    this.#tallyOf(key)[outcome]++;
    this.#timeline.add(timeMs, outcome);
  }

  report({ name, text }: NamedPolicy, topKeys: number): PolicyReport {
    const { requests, refused } = this.#total;
    return {
      name,
      policy: text,
      requests,
      ...this.#total.counts(),
      refusedShare: requests === 0 ? 0 : refused / requests,
      gaveUp: this.#gaveUp,
      outside: this.outside,
      withoutKey: this.withoutKey,
      waits: this.#waits.report(),
      keys: this.#byKey.size,
      ...this.#refusedKeys(topKeys),
      timeline: this.#timeline.report(),
    };
  }

  #tallyOf(key: string): OutcomeTally {
    let tally = this.#byKey.get(key);
    if (tally === undefined) this.#byKey.set(key, (tally = new OutcomeTally()));
    return tally;
  }

  #refusedKeys(count: number): { refusedKeys: number; topRefused: KeyReport[] } {
    const refused = [...this.#byKey].filter(([, tally]) => tally.refused > 0);
    refused.sort(([, left], [, right]) => right.refused - left.refused || right.requests - left.requests);
    const topRefused = refused
      .slice(0, count)
      .map(([key, tally]) => ({ key, requests: tally.requests, ...tally.counts() }));
    return { refusedKeys: refused.length, topRefused };
  }
}
