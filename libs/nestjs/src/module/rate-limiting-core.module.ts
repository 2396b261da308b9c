import type { NestModule, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import type { HttpBinding } from '../binding/http-binding.js';
import type { Visibility } from '../visibility/visibility.js';
import type { BootWarnings } from '../warnings/boot-warnings.js';
import type { MiddlewarePhase } from '../enforcement/middleware-phase.js';
import { Boot } from './boot.js';
import { BOOT, BOOT_WARNINGS, HTTP_BINDING, MIDDLEWARE_PHASE, VISIBILITY } from './tokens.js';

/**
 * What runs in an application, once, however often `RateLimitingModule` is imported. It is only made by
 * `RateLimitingModule.forRoot()`.
 */
@Module({})
export class RateLimitingCoreModule implements NestModule, OnModuleInit, OnModuleDestroy {
  readonly #boot: Boot;

  readonly #middlewarePhase: MiddlewarePhase;
  readonly #warnings: BootWarnings;
  readonly #visibility: Visibility;
  readonly #binding: HttpBinding;

  // oxlint-disable-next-line eslint/max-params -- Nest injects by position.
  constructor(
    @Inject(BOOT) boot: Boot,
    @Inject(MIDDLEWARE_PHASE) middlewarePhase: MiddlewarePhase,
    @Inject(BOOT_WARNINGS) warnings: BootWarnings,
    @Inject(VISIBILITY) visibility: Visibility,
    @Inject(HTTP_BINDING) binding: HttpBinding,
  ) {
    this.#binding = binding;
    this.#warnings = warnings;
    this.#visibility = visibility;
    this.#boot = boot;
    this.#middlewarePhase = middlewarePhase;
  }

  /** The last moment before the router reads the controllers. */
  async configure(): Promise<void> {
    await this.#boot.run();
    this.#middlewarePhase.install();
    this.#binding.bind();
  }

  async onModuleInit(): Promise<void> {
    await this.#boot.run();
    this.#binding.putBack();
    this.#warnings.give();
    await this.#visibility.load();
  }

  async onModuleDestroy(): Promise<void> {
    await this.#boot.dispose();
  }
}
