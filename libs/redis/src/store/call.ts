import type { DecisionRequest } from './decision-request.js';
import type { Lane } from './lane.js';

/** What one group has in a call. */
export interface CallPart {
  readonly lane: Lane;
  readonly requests: readonly DecisionRequest[];
}

/** Groups that ask limiters of the same names and numbers in one call, each about a partition of its own. */
export interface Call {
  readonly parts: CallPart[];
  /** Tells a call that is sent again from the next. */
  readonly sequence: string;
  /** How often it was sent. */
  sent: number;
}

/** The keys of a call. */
export function keysOf({ parts }: Call): readonly string[] {
  const [first] = parts;
  if (parts.length === 1) return first!.lane.group.keys;
  const keys: string[] = [];
  for (const { lane } of parts) for (const key of lane.group.keys) keys.push(key);
  return keys;
}

/** The arguments of a call. */
export function argumentsOf({ parts, sequence }: Call, { time, process, channels }: CallHead): string[] {
  const { group } = parts[0]!.lane;
  const args = [time, process + group.recordSuffix, sequence];
  if (group.hasConcurrency) args.push(channels);
  for (const number of group.numbers) args.push(number);
  const same = permitsOfAll(parts);
  if (same >= 0) {
    args.push(textOf(same));
    return args;
  }
  for (const { requests } of parts) {
    const [first] = requests;
    if (requests.length === 1 && first!.question.ahead === 0 && !group.hasConcurrency) {
      args.push(textOf(first!.question.permits));
      continue;
    }
    args.push(`-${requests.length}`);
    for (const { question } of requests) {
      args.push(textOf(question.permits), textOf(question.ahead));
      if (group.hasConcurrency) args.push(question.id, question.flag);
    }
  }
  return args;
}

/** The permits of each request where every group has one, for as many as the others; else -1. */
function permitsOfAll(parts: readonly CallPart[]): number {
  const { lane, requests } = parts[0]!;
  if (lane.group.hasConcurrency) return -1;
  const { permits } = requests[0]!.question;
  for (const { requests: others } of parts) {
    const { question } = others[0]!;
    if (others.length > 1 || question.permits !== permits || question.ahead !== 0) return -1;
  }
  return permits;
}

/** What every call begins with. */
export interface CallHead {
  readonly time: string;
  /** What the record of this process begins with. */
  readonly process: string;
  readonly channels: string;
}

function textOf(number: number): string {
  return number === 1 ? '1' : number === 0 ? '0' : String(number);
}

/** The latest moment at which somebody still waits for an answer of the call. */
export function deadlineOf({ parts }: Call): number {
  let latest = 0;
  for (const { requests } of parts)
    for (const { deadlineMs } of requests) if (deadlineMs > latest) latest = deadlineMs;
  return latest;
}
