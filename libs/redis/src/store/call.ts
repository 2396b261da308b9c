import type { DecisionRequest } from './decision-request.js';
import type { Lane } from './lane.js';

/** What one group has in a call. */
export interface CallPart {
  readonly lane: Lane;
  readonly sequence: string;
  readonly requests: readonly DecisionRequest[];
}

/** The keys of a call. */
export function keysOf(parts: readonly CallPart[]): string[] {
  return parts.length === 1
    ? (parts[0]!.lane.group.keys as string[])
    : parts.flatMap(({ lane }) => lane.group.keys as string[]);
}

/** The arguments of a call behind its head. */
export function argumentsOf(parts: readonly CallPart[], head: readonly string[]): string[] {
  const args = [...head];
  for (const { lane, sequence, requests } of parts) {
    const { group } = lane;
    args.push(lane.recordField, sequence, String(requests.length));
    for (const number of group.numbers) args.push(number);
    for (const { question } of requests) {
      args.push(String(question.permits), String(question.ahead));
      if (group.hasConcurrency) args.push(question.id, question.flag);
    }
  }
  return args;
}

/** The latest moment at which somebody still waits for an answer of the call. */
export function deadlineOf(parts: readonly CallPart[]): number {
  let latest = 0;
  for (const { requests } of parts)
    for (const { deadlineMs } of requests) if (deadlineMs > latest) latest = deadlineMs;
  return latest;
}
