import rateLimit from '@fastify/rate-limit';
import { HttpException } from '@nestjs/common';

export const contestant = {
  title: '@fastify/rate-limit',
  setup: ({ isRefused }) => {
    // Nest answers with 500 to what the plugin makes by itself.
    const exception = new HttpException({ statusCode: 429, message: 'Too many requests.' }, 429);
    const options = {
      max: isRefused ? 1 : 1_000_000_000,
      timeWindow: 600_000,
      errorResponseBuilder: () => exception,
    };
    return { prepare: (app) => app.register(rateLimit, options) };
  },
};
