import { APP_GUARD } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';

export const contestant = {
  title: '@nestjs/throttler',
  setup: ({ isRefused }) => ({
    imports: [ThrottlerModule.forRoot([{ ttl: 600_000, limit: isRefused ? 1 : 1_000_000_000 }])],
    providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
  }),
};
