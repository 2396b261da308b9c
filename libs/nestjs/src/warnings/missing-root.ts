import type { OnModuleInit } from '@nestjs/common';
import { Inject, Injectable } from '@nestjs/common';
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
  readonly #modules: ModulesContainer;

  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    this.#modules = modules;
  }

  onModuleInit(): void {
    if ([...this.#modules.values()].some(({ providers }) => providers.has(SETTINGS))) return;
    const limited = discoverEndpoints(this.#modules)
      .filter(
        ({ controller, handler }) =>
          (enableMarkOf(controller, handler) ?? enableMarkOf(controller)) !== undefined ||
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
