import { Module } from '@nestjs/common';
import { ActiveSessionLimitingModule, ActiveSessionModule, byUserId } from '@ratelease/active-session';
import { RateLimitingModule, byClient } from '@ratelease/nestjs';
import { RedisRateLimitingModule } from '@ratelease/redis/nestjs';
import { Redis } from 'ioredis';
import { AppController } from './app.controller.js';
import { AppService } from './app.service.js';

@Module({
  imports: [
    RedisRateLimitingModule.forRoot({ client: new Redis({ lazyConnect: true }) }),
    RateLimitingModule.forRoot({
      policies: {
        perClient: { algorithm: 'fixedWindow', permitLimit: 2, windowMs: 3_600_000, key: byClient() },
        atOnce: { algorithm: 'concurrency', permitLimit: 1, queueLimit: 10 },
      },
    }),
    ActiveSessionModule.forRoot({ group: byUserId() }),
    ActiveSessionLimitingModule.forRoot({ permitLimit: 10 }),
  ],
  controllers: [AppController],
  providers: [AppService],
})
export class AppModule {}
