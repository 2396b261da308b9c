export type { SimulationErrorCode } from './errors/simulation-error.js';
export { SimulationError } from './errors/simulation-error.js';
export type { Policies } from './policies/checked-policy.js';
export { parsePolicy } from './policies/notation.js';
export type {
  AlgorithmName,
  AlgorithmNumbers,
  PolicyKey,
  PolicyOrChain,
  SimulatedPolicy,
} from './policies/policy-options.js';
export type {
  KeyReport,
  OutcomeCounts,
  PolicyReport,
  SimulationReport,
  Timeline,
  TimelineStep,
  WaitReport,
} from './report/simulation-report.js';
export type { Trace } from './simulate.js';
export { simulate } from './simulate.js';
export type { OutcomeListener, SimulatedOutcome, SimulationOptions } from './simulation-options.js';
export type {
  LimitSuggestion,
  LimitTrial,
  PolicyAt,
  RepeatableTrace,
  SuggestionOptions,
} from './suggestion/limit-suggestion.js';
export { suggestLimit } from './suggestion/suggest-limit.js';
export type { LateEntries } from './trace/time-order.js';
export type { TraceEntry, TraceFields } from './trace/trace-entry.js';
export type { UnreadableLine } from './log/access-log.js';
export { AccessLog, readAccessLog } from './log/access-log.js';
export type { Chunks } from './log/lines.js';
export type { AccessLogOptions, DurationUnit, LogFields } from './log/log-options.js';
