import type { ScriptCall } from '../scripts/script.js';
import type { DecisionRequest } from './decision-request.js';
import type { Lane } from './lane.js';
import type { Telling } from './returns.js';

/** What one group has in a call. */
export interface CallPart {
  readonly lane: Lane;
  readonly requests: readonly DecisionRequest[];
}

/** Groups that ask limiters of the same names and numbers in one call, each about a partition of its own. */
export class Call implements ScriptCall {
  readonly parts: CallPart[];
  /** Tells a call that is sent again from the next. */
  readonly sequence: string;
  /** How often it was sent. */
  sent = 0;
  /** What it was sent with last, and when. */
  keys: readonly string[] = [];
  args: readonly string[] = [];
  sentMs = 0;
  /** What was given back before it to the limiters that it asks, where the client may lose the order. */
  behind: readonly Telling[] | null = null;
  /** How many scripts the server had missed when it was sent. */
  missesBefore = 0;

  constructor(part: CallPart, sequence: string) {
    this.parts = [part];
    this.sequence = sequence;
  }
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
  const { permits } = parts[0]!.requests[0]!.question;
  if (parts.length === 1 && isPlain(parts[0]!, permits)) {
    // The commonest call: a copy of what is the same each time grows no array.
    const plain = group.plainArguments.slice();
    plain[0] = time;
    plain[1] = process + group.recordSuffix;
    plain[2] = sequence;
    plain[plain.length - 1] = textOf(permits);
    return plain;
  }
  const args = [time, process + group.recordSuffix, sequence];
  if (group.hasConcurrency) args.push(channels);
  for (const number of group.numbers) args.push(number);
  const alike = alikeAtFirst(parts);
  // Where all are alike, how many there are needs no telling.
  if (alike < parts.length) args.push(String(alike));
  if (alike > 0) args.push(textOf(permits));
  for (let index = alike; index < parts.length; index++) {
    const { requests } = parts[index]!;
    args.push(String(requests.length));
    for (const { question } of requests) {
      args.push(textOf(question.permits), textOf(question.ahead));
      if (group.hasConcurrency) args.push(question.id, question.flag);
    }
  }
  return args;
}

/** How many groups at the beginning have one plain request each, all for as many permits. */
function alikeAtFirst(parts: readonly CallPart[]): number {
  const { permits } = parts[0]!.requests[0]!.question;
  let alike = 0;
  while (alike < parts.length && isPlain(parts[alike]!, permits)) alike++;
  return alike;
}

function isPlain({ lane, requests }: CallPart, permits: number): boolean {
  if (requests.length > 1 || lane.group.hasConcurrency) return false;
  const { question } = requests[0]!;
  return question.permits === permits && question.ahead === 0;
}

/** Puts those first whose arguments are told once for all of them. */
export function arrange({ parts }: Call): void {
  if (parts.length < 2) return;
  const others: CallPart[] = [];
  const alike: CallPart[] = [];
  const first = parts.find(({ requests }) => requests.length === 1) ?? parts[0]!;
  const { permits } = first.requests[0]!.question;
  for (const part of parts) (isPlain(part, permits) ? alike : others).push(part);
  if (others.length === 0 || alike.length === 0) return;
  parts.splice(0, parts.length, ...alike, ...others);
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
