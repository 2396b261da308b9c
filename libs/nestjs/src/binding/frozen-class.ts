import { endpointName } from '../endpoints/endpoint-rule.js';
import { RateLimitingConfigurationError } from '../errors/rate-limiting-configuration-error.js';

/** What stops the boot where a method would have to be replaced, and can't be. */
// oxlint-disable-next-line typescript/no-unsafe-function-type
export function frozenClass(controller: Function, handler: Function): RateLimitingConfigurationError {
  return new RateLimitingConfigurationError(
    'ERR_RL_INVALID_ENDPOINT',
    `${endpointName(controller, handler)} has a limit that takes its permits where the method is called, or holds them until ` +
      `its work has ended, but ${controller.name}.prototype is frozen, so that nothing can stand before the method. ` +
      'Freeze it once the application has started.',
  );
}
