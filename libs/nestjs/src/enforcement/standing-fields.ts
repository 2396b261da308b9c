import type { RateLimitLease } from '@ratelease/limiters';
import { rateLimitFields } from '../http/rate-limit-fields.js';
import { writeStyled } from '../http/refusal-style.js';
import { writeRateLimit } from '../http/response-fields.js';
import type { Settings } from '../module/settings.js';
import type { Question } from './question.js';

/** Tells on the response of a request that was granted its permits how its limiters stand. */
export function writeStanding({ set, holder }: Question, lease: RateLimitLease, settings: Settings): void {
  const fields = rateLimitFields(set, lease);
  if (fields !== undefined) writeRateLimit(holder, fields);
  const { legacyHeaders, exposeHeaders } = settings;
  if (legacyHeaders || exposeHeaders) writeStyled(holder.context, settings, { set, lease });
}
