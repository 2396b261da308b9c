import type { LimiterGroup } from '../store/limiter-group.js';
import { RefusalMemory } from './refusal-memory.js';
import type { RemoteRateLimiter } from './remote-rate-limiter.js';

/** Limiters that are asked together. */
export interface Together {
  readonly limiters: readonly RemoteRateLimiter[];
  readonly group: LimiterGroup;
  /** Whether no request waits for them or holds anything of them: rates without a queue. */
  readonly isPlain: boolean;
  /** What they refused last, where that is remembered. */
  readonly refusals: RefusalMemory | undefined;
}

export function togetherOf(limiters: readonly RemoteRateLimiter[], group: LimiterGroup): Together {
  const { refusalCacheMs, hasConcurrency, definitions } = group;
  const isPlain = !hasConcurrency && definitions.every(({ queueLimit }) => queueLimit === 0);
  const refusals = isPlain && refusalCacheMs > 0 ? new RefusalMemory(refusalCacheMs) : undefined;
  return { limiters, group, isPlain, refusals };
}
