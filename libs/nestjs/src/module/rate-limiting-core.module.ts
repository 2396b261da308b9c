import type { NestModule, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import type { Visibility } from '../visibility/visibility.js';
import type { BootWarnings } from '../warnings/boot-warnings.js';
import type { MiddlewarePhase } from '../enforcement/middleware-phase.js';
import { Boot } from './boot.js';
import { BOOT, BOOT_WARNINGS, MIDDLEWARE_PHASE, VISIBILITY } from './tokens.js';

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

  constructor(
    @Inject(BOOT) boot: Boot,
    @Inject(MIDDLEWARE_PHASE) middlewarePhase: MiddlewarePhase,
    @Inject(BOOT_WARNINGS) warnings: BootWarnings,
    @Inject(VISIBILITY) visibility: Visibility,
  ) {
    this.#warnings = warnings;
    this.#visibility = visibility;
    this.#boot = boot;
    this.#middlewarePhase = middlewarePhase;
  }

  /** The last moment before the router reads the controllers. */
  async configure(): Promise<void> {
    await this.#boot.run();
    this.#middlewarePhase.install();
  }

  async onModuleInit(): Promise<void> {
    await this.#boot.run();
    this.#warnings.give();
    await this.#visibility.load();
  }

  async onModuleDestroy(): Promise<void> {
    await this.#boot.dispose();
  }
}
