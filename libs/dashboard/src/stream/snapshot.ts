// What travels from the server to the page. The page imports these types, so both are checked against them.

/** A second of a policy: granted, refused, waiting, in use, and the waits' median, 95th percentile and maximum. */
export type SecondRow = readonly [
  granted: number,
  refused: number,
  waiting: number,
  inUse: number,
  waitP50Ms: number,
  waitP95Ms: number,
  waitMaxMs: number,
];

/** How a policy stands, and its seconds since the last snapshot. */
export interface PolicySnapshot {
  readonly policy: string;
  readonly isShadow: boolean;
  readonly partitions: number | null;
  readonly available: number | null;
  readonly queued: number;
  readonly inUse: number;
  readonly granted: number;
  readonly refused: number;
  readonly seconds: readonly SecondRow[];
}

/** A key that many requests have. */
export interface KeySnapshot {
  readonly policy: string;
  readonly key: string;
  readonly requests: number;
  readonly overestimate: number;
  readonly refused: number;
}

/** A lease that is held. */
export interface LeaseSnapshot {
  readonly endpoint: string;
  readonly policies: readonly string[];
  readonly keys: readonly string[];
  readonly heldMs: number;
}

/** A message of the stream. */
export interface Snapshot {
  /** The first and the last second that the rows are of, by the server's count. */
  readonly from: number;
  readonly until: number;
  readonly policies: readonly PolicySnapshot[];
  /** `null` where keys aren't shown. */
  readonly keys: readonly KeySnapshot[] | null;
  readonly leases: readonly LeaseSnapshot[];
}
