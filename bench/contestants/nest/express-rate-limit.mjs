import { rateLimit } from 'express-rate-limit';

export const contestant = {
  title: 'express-rate-limit',
  setup: ({ isRefused }) => ({
    prepare: (app) =>
      app.use(
        rateLimit({
          windowMs: 600_000,
          limit: isRefused ? 1 : 1_000_000_000,
          standardHeaders: 'draft-8',
          legacyHeaders: false,
        }),
      ),
  }),
};
