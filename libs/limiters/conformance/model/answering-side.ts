import type { RateLimiter, RateLimitLease } from '../../src/index.js';
import type { Command } from './trace.js';
import { picked } from './trace.js';

type Answer = RateLimitLease | 'waiting' | 'aborted' | 'misuse';

/** A limiter, most often a chain, its members, and what became of the requests to it. */
export interface Side {
  readonly chain: RateLimiter;
  readonly members: readonly RateLimiter[];
  readonly answers: Answer[];
  readonly aborts: AbortController[];
}

/** Nothing was asked yet. */
export function sideOf(chain: RateLimiter, members: readonly RateLimiter[]): Side {
  return { chain, members, answers: [], aborts: [] };
}

/** Lets a command happen to one side. */
export function act({ chain, answers, aborts }: Side, command: Exclude<Command, { do: 'advance' }>): void {
  if (command.do === 'abort') return picked(aborts, command.pick)?.abort(new Error('aborted'));
  if (command.do === 'disposeLease') {
    const answer = picked(answers, command.pick);
    if (typeof answer === 'object') answer.dispose();
    return;
  }
  const index = answers.push('waiting') - 1;
  const abort = new AbortController();
  aborts.push(abort);
  if (command.do === 'attempt') {
    try {
      answers[index] = chain.attemptAcquire(command.permits);
    } catch {
      answers[index] = 'misuse';
    }
    return;
  }
  chain.acquire(command.permits, { signal: abort.signal }).then(
    (lease) => (answers[index] = lease),
    (error: unknown) => (answers[index] = error instanceof RangeError ? 'misuse' : 'aborted'),
  );
}

/** What was answered, and how the members stand. */
export function stateOf({ members, answers }: Side): unknown {
  return {
    answers: answers.map((answer) => (typeof answer === 'object' ? told(answer) : answer)),
    members: members.map((member) => member.getStatistics()),
  };
}

function told(lease: RateLimitLease): unknown {
  const metadata = [...lease.metadataNames].map((name) => [name, lease.getMetadata(name)]);
  return { isAcquired: lease.isAcquired, metadata, quota: lease.quota() };
}
