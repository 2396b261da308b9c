/** A value of the data file; special numbers and identities are written as `{ "$": "NaN" }`. */
export type Encoded = unknown;

/** How a limiter of a scenario is made. */
export interface LimiterDefinition {
  readonly type: string;
  /** The name by which steps and references find it. */
  readonly name?: string;
  readonly options?: Encoded;
  readonly limiters?: readonly (LimiterDefinition | LimiterReference | null)[];
  readonly inner?: LimiterDefinition;
}

/** Uses a limiter once more that was made before. */
export interface LimiterReference {
  readonly ref: string;
}

/** What a step must bring about; which fields count depends on the operation. */
export interface Expectation {
  readonly throws?: string;
  readonly innerCount?: number;
  readonly messageIncludes?: readonly string[];
  readonly isAcquired?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly metadataAbsent?: readonly string[];
  readonly metadataNames?: readonly string[];
  readonly pending?: boolean | number;
  readonly returns?: boolean;
  readonly isNull?: boolean;
  readonly ms?: number;
  readonly order?: readonly string[];
  readonly factory?: Readonly<Record<string, number>>;
  readonly [field: string]: unknown;
}

/** One thing that happens, and what must come of it. */
export interface Step {
  readonly op: string;
  /** Names the lease or promise that the step brings. */
  readonly as?: string;
  /** The lease or promise of an earlier step. */
  readonly of?: string;
  /** The limiter to operate on; without, the scenario's own. */
  readonly on?: string;
  readonly permits?: Encoded;
  readonly resource?: Encoded;
  readonly signal?: 'aborted' | 'none';
  readonly ms?: number;
  readonly fireTimers?: boolean;
  readonly times?: number;
  readonly steps?: readonly Step[];
  readonly options?: Readonly<Record<string, unknown>>;
  readonly expect?: Expectation;
}

/** A limiter and what happens to it, with the exact outcome of each step. */
export interface Scenario {
  readonly id: string;
  readonly limiter: LimiterDefinition;
  readonly steps: readonly Step[];
  readonly clockStartMs?: number;
}
