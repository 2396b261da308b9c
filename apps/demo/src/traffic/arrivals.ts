import type { TrafficPlan } from './traffic-plan.js';

/** A request to come. */
export interface Arrival {
  /** Milliseconds after the start. */
  readonly atMs: number;
  /** Whose it is, counted from 0. */
  readonly client: number;
}

const SECOND_MS = 1_000;
const BURST_EVERY_MS = 5_000;
/** What a patient client asks for while another is greedy. */
const PATIENT_EVERY_MS = 2_000;

/** The requests of a plan, in the order of their times. */
export function arrivals(plan: TrafficPlan): Arrival[] {
  const lastsMs = plan.seconds * SECOND_MS;
  return plan.shape === 'greedy'
    ? greedy(plan, lastsMs)
    : inTurn(TIMES[plan.shape](plan.rate, lastsMs), plan);
}

/** When requests come, whoever they are of. */
const TIMES = {
  steady: (rate: number, lastsMs: number) => every(SECOND_MS / rate, lastsMs),
  burst: (rate: number, lastsMs: number) =>
    every(BURST_EVERY_MS, lastsMs).flatMap((atMs) => Array<number>(rate).fill(atMs)),
  ramp,
} as const;

function every(periodMs: number, lastsMs: number): number[] {
  // A thousandth less: what is due at the very end, by a rounding, is not.
  const count = Math.ceil(lastsMs / periodMs - 0.001);
  return Array.from({ length: count }, (_, index) => index * periodMs);
}

/** From none to the whole rate: after t of T, rate × t² / 2T requests have come. */
function ramp(rate: number, lastsMs: number): number[] {
  const count = Math.floor((rate * lastsMs) / SECOND_MS / 2);
  return Array.from({ length: count }, (_, index) => lastsMs * Math.sqrt(index / count));
}

function greedy({ rate, clients }: TrafficPlan, lastsMs: number): Arrival[] {
  const ofGreedy = every(SECOND_MS / rate, lastsMs).map((atMs) => ({ atMs, client: 0 }));
  const ofPatient = Array.from({ length: clients - 1 }, (_, index) => index + 1).flatMap((client) =>
    every(PATIENT_EVERY_MS, lastsMs).map((atMs) => ({ atMs, client })),
  );
  return [...ofGreedy, ...ofPatient].sort((one, other) => one.atMs - other.atMs);
}

function inTurn(times: readonly number[], { clients }: TrafficPlan): Arrival[] {
  return times.map((atMs, index) => ({ atMs, client: index % clients }));
}
