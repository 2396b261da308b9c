import { MissingKeyError } from '../errors/missing-key-error.js';
import type { KeyFunction, SpacedKeyFunction } from './key-function.js';
import { inOwnSpace, keyText, makesKeys, spaced } from './key-function.js';

/** Options of {@link byUser}. */
export interface ByUserOptions {
  /** The key of a request without a user. Without it, such a request is a server error. */
  readonly orElse?: KeyFunction | undefined;
}

/** Counts by `request.user.id`, as authentication left it. */
export function byUser(options: ByUserOptions = {}): SpacedKeyFunction {
  const orElse = options.orElse === undefined ? undefined : inOwnSpace(options.orElse, 'byUser: orElse');
  return spaced((context) => {
    const id = (context.user as { id?: unknown } | null | undefined)?.id;
    if (id !== undefined && id !== null) return `user=${keyText(id, 'byUser()')}`;
    if (orElse !== undefined) return orElse(context);
    throw new MissingKeyError(
      'byUser() found no request.user.id. Put authentication before the limit (phase), ' +
        'or say whom strangers count for: byUser({ orElse: byClient() }).',
    );
  });
}
makesKeys(byUser);
