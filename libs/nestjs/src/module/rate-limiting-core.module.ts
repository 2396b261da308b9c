import type { NestModule, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import type { BootWarnings } from '../warnings/boot-warnings.js';
import type { MiddlewarePhase } from '../enforcement/middleware-phase.js';
import { Boot } from './boot.js';
import { BOOT, BOOT_WARNINGS, MIDDLEWARE_PHASE } from './tokens.js';

/**
 * What runs in an application, once, however often `RateLimitingModule` is imported. It is only made by
 * `RateLimitingModule.forRoot()`.
 */
@Module({})
export class RateLimitingCoreModule implements NestModule, OnModuleInit, OnModuleDestroy {
  readonly #boot: Boot;

  readonly #middlewarePhase: MiddlewarePhase;
  readonly #warnings: BootWarnings;

  constructor(
    @Inject(BOOT) boot: Boot,
    @Inject(MIDDLEWARE_PHASE) middlewarePhase: MiddlewarePhase,
    @Inject(BOOT_WARNINGS) warnings: BootWarnings,
  ) {
    this.#warnings = warnings;
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
  }

  async onModuleDestroy(): Promise<void> {
    await this.#boot.dispose();
  }
}
