import type { OnModuleDestroy } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { Enforcement } from '../enforcement/enforcement.js';
import { RateLimitingService } from '../service/rate-limiting.service.js';
import { ENFORCEMENT } from './tokens.js';

/** Nest tells modules of the end by their distance from the root module, whose own is 1, the nearest first. */
const BEFORE_ALL_OTHERS = -1;

/**
 * Ends all waits before any other module hears of the end: their hooks may wait for requests that are being served, as
 * that of a GraphQL server does, and these would wait for permits meanwhile. A global module hears of it last, and what
 * runs needs its limiters until then.
 */
@Module({})
export class RateLimitingEndModule implements OnModuleDestroy {
  readonly #enforcement: Enforcement;
  readonly #service: RateLimitingService;

  constructor(
    modules: ModulesContainer,
    @Inject(ENFORCEMENT) enforcement: Enforcement,
    service: RateLimitingService,
  ) {
    this.#enforcement = enforcement;
    this.#service = service;
    for (const module of modules.values()) {
      if (module.metatype === RateLimitingEndModule) module.distance = BEFORE_ALL_OTHERS;
    }
  }

  onModuleDestroy(): void {
    this.#enforcement.shutDown();
    this.#service.onModuleDestroy();
  }
}
