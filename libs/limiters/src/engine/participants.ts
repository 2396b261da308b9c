import type { ChainParticipant } from '../chained/chain-participant.js';

/** Whether a subclass has put decisions of its own in the place of those that a chain would bypass. */
export function decidesLike(limiter: object, original: object): boolean {
  const own = limiter as Record<string, unknown>;
  const base = original as Record<string, unknown>;
  return (
    own['attemptAcquireCore'] === base['attemptAcquireCore'] &&
    own['acquireCore'] === base['acquireCore'] &&
    own['acquireWithin'] === base['acquireWithin'] &&
    // Of limiters without partitions.
    own['assertAcquirable'] === base['assertAcquirable']
  );
}

/** Whether a subclass has put its own `acquireCore` in the place of one that a wait with a limit would bypass. */
export function waitsOtherwise(limiter: object, original: object): boolean {
  const own = limiter as Record<string, unknown>;
  const base = original as Record<string, unknown>;
  // Who has replaced both knows what he does.
  return own['acquireCore'] !== base['acquireCore'] && own['acquireWithin'] === base['acquireWithin'];
}

/** The participants of a limiter that decides with one core, or none where a subclass decides otherwise. */
export function soleParticipant(
  limiter: object,
  original: object,
  core: ChainParticipant,
): readonly ChainParticipant[] | null {
  return decidesLike(limiter, original) ? [core] : null;
}
