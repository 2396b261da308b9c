import type { TraceEntry } from '../trace/trace-entry.js';

/** An entry that its log has just made, and completes: copying it would cost as much as reading it. */
export type ReadEntry = { -readonly [Field in keyof TraceEntry]: TraceEntry[Field] };
