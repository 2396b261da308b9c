import { ThrottlerStorageService } from '@nestjs/throttler';

/** Sweeps each minute by default: too long to watch. What a sweep costs doesn't depend on how often it comes. */
class SweptOften extends ThrottlerStorageService {
  sweepIntervalMs = 3000;
}

export const contestant = {
  title: '@nestjs/throttler',
  isAsync: true,
  create({ limit, windowMs }) {
    const storage = new SweptOften();
    return {
      decide: async (key) => !(await storage.increment(key, windowMs, limit, windowMs, 'default')).isBlocked,
      size: () => storage.storage.size,
    };
  },
};
