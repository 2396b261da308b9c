import rateLimit from '@fastify/rate-limit';

export const contestant = {
  title: '@fastify/rate-limit',
  setup: ({ isRefused }) => ({
    prepare: (app) => app.register(rateLimit, { max: isRefused ? 1 : 1_000_000_000, timeWindow: 600_000 }),
  }),
};
