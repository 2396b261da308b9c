import type { Clock } from '@ratelease/limiters';
import { REASON } from '../leases/reasons.js';
import type { RefusalFacts } from '../leases/remote-refused-lease.js';
import { RemoteRefusedLease, retryAfterMsOf } from '../leases/remote-refused-lease.js';
import type { LimiterGroup } from '../store/limiter-group.js';
import type { HeardRefusal } from './heard.js';
import { standingNow } from './heard.js';
import type { Outcome } from './outcome.js';

/** A request is refused by a limiter of its group, for what is known here. */
export function refusal(refusedBy: number, facts: RefusalFacts): Outcome {
  const lease = new RemoteRefusedLease(facts);
  return { lease, refusedBy, retryAfterOfAllMs: facts.retryAfterMs };
}

/** A request is refused by what the server answers. */
export function refusalBy(group: LimiterGroup, answer: HeardRefusal, reason: string | undefined): Outcome {
  const facts = { reason, retryAfterMs: retryAfterMsOf(answer.waitUs), ...quotaKnown(group, answer) };
  return { ...refusal(answer.member, facts), retryAfterOfAllMs: retryAfterMsOf(answer.longestUs) };
}

/** A request came to an end with its limiter: nobody has refused it. */
export function flushed(member: number): Outcome {
  return { ...refusal(member, { reason: REASON.limiterDisposed }), isFlushed: true };
}

/** How the limiters stood when the request asked last, as far as is known now; nothing where it has never asked. */
export function quotaKnown(
  group: LimiterGroup,
  answer: HeardRefusal,
): Pick<RefusalFacts, 'group' | 'standing'> {
  return answer.standing.length > 0 ? { group, standing: standingNow(answer, clockOf(group)) } : {};
}

/** The clock by which a group's requests wait. */
export function clockOf({ definitions }: LimiterGroup): Clock {
  return definitions[0]!.clock;
}
