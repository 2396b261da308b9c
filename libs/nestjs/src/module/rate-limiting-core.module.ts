import type { NestModule, OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { Inject, Module } from '@nestjs/common';
import { Boot } from './boot.js';
import { BOOT } from './tokens.js';

/**
 * What runs in an application, once, however often `RateLimitingModule` is imported. It is only made by
 * `RateLimitingModule.forRoot()`.
 */
@Module({})
export class RateLimitingCoreModule implements NestModule, OnModuleInit, OnModuleDestroy {
  readonly #boot: Boot;

  constructor(@Inject(BOOT) boot: Boot) {
    this.#boot = boot;
  }

  /** Not for middleware: it is the last moment before the router reads the controllers. */
  async configure(): Promise<void> {
    await this.#boot.run();
  }

  async onModuleInit(): Promise<void> {
    await this.#boot.run();
  }

  async onModuleDestroy(): Promise<void> {
    await this.#boot.dispose();
  }
}
