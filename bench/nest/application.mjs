import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** What a contestant puts into, or on top of, an application that answers `ok`. */
/**
 * @typedef {object} Setup
 * @property {unknown[]} [imports]
 * @property {unknown[]} [providers]
 * @property {MethodDecorator[]} [decorators] - of the method that answers
 * @property {(app: import('@nestjs/common').INestApplication) => unknown} [prepare] - before it listens
 */

/** Starts the application of a contestant. @returns its server, which listens */
export async function listen(platform, { imports = [], providers = [], decorators = [], prepare }) {
  class AnswerController {
    answer() {
      return 'ok';
    }
  }
  decorate(AnswerController, [Get('answer'), ...decorators]);
  Controller()(AnswerController);
  // oxlint-disable-next-line typescript/no-extraneous-class -- a module is a class, decorated or not
  class AppModule {}
  Module({ imports, providers, controllers: [AnswerController] })(AppModule);

  const app = await NestFactory.create(AppModule, await adapterOf(platform), {
    logger: false,
    abortOnError: false,
  });
  await prepare?.(app);
  await app.listen(0, '127.0.0.1');
  // Contestants wait for their turns for longer than Node keeps a connection on which nothing comes.
  const server = app.getHttpServer();
  server.keepAliveTimeout = 0;
  return server;
}

/** One import after the other: Node 20 can't bear a CommonJS package that needs what is being imported. */
async function adapterOf(platform) {
  if (platform === 'Fastify') {
    const { FastifyAdapter } = await import('@nestjs/platform-fastify');
    return new FastifyAdapter();
  }
  const { ExpressAdapter } = await import('@nestjs/platform-express');
  return new ExpressAdapter();
}

function decorate({ prototype }, decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, 'answer');
  for (const decorator of decorators) decorator(prototype, 'answer', descriptor);
}
