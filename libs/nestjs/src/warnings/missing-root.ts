import type { OnModuleInit } from '@nestjs/common';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { concurrencyMarkOf } from '../decorators/concurrency-limit.js';
import { enableMarkOf } from '../decorators/enable-rate-limiting.js';
import { discoverEndpoints } from '../endpoints/endpoint-discovery.js';
import { endpointName } from '../endpoints/endpoint-rule.js';
import { SETTINGS } from '../module/tokens.js';
import { namesOf } from './endpoint-names.js';
import { Warnings } from './warnings.js';

/** Warns of limits that nobody enforces, in an application that has the module and no options for it. */
@Injectable()
export class MissingRoot implements OnModuleInit {
  readonly #modules: ModulesContainer | undefined;

  /** @param modules - `undefined` where the application runs on another copy of `@nestjs/core` than this package finds. */
  constructor(@Optional() @Inject(ModulesContainer) modules?: ModulesContainer) {
    this.#modules = modules;
  }

  onModuleInit(): void {
    const modules = this.#modules;
    if (modules === undefined) return;
    if ([...modules.values()].some(({ providers }) => providers.has(SETTINGS))) return;
    const limited = discoverEndpoints(modules)
      .filter(
        ({ controller, handler, isConnection }) =>
          enableMarkOf(controller, handler) !== undefined ||
          (!isConnection && enableMarkOf(controller) !== undefined) ||
          concurrencyMarkOf(controller, handler) !== undefined,
      )
      .map(({ controller, handler }) => endpointName(controller, handler));
    if (limited.length === 0) return;
    new Warnings().once(
      `Nobody enforces the limits of ${namesOf(limited)}: RateLimitingModule is imported, but nowhere configured. Import ` +
        'RateLimitingModule.forRoot() in the root module.',
    );
  }
}
