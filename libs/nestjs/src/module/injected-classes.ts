import type { Provider, Type } from '@nestjs/common';
import { otherCopies } from '@ratelease/limiters';
import { RateLimitingGuard } from '../enforcement/rate-limiting.guard.js';
import { RateLimitingInterceptor } from '../enforcement/rate-limiting.interceptor.js';
import { AdditionalLimits } from '../policies/additional-limits.js';
import { RateLimitingService } from '../service/rate-limiting.service.js';

/** A class that applications inject or bind by itself. */
export type InjectedClass = abstract new (...dependencies: never[]) => object;

/** These classes, with the names that all copies of the package have for them. */
const CLASSES: ReadonlyMap<InjectedClass, string> = new Map<InjectedClass, string>([
  [RateLimitingService, 'nestjs.RateLimitingService'],
  [AdditionalLimits, 'nestjs.AdditionalLimits'],
  [RateLimitingGuard, 'nestjs.RateLimitingGuard'],
  [RateLimitingInterceptor, 'nestjs.RateLimitingInterceptor'],
]);

// From the moment when it is loaded, the others find this copy.
injectedClasses();

/** The class of every loaded copy of the package, the own one first. */
export function copiesOf(own: InjectedClass): InjectedClass[] {
  return [own, ...otherCopies(CLASSES.get(own)!, own)];
}

/** The injected classes of every copy. */
export function injectedClasses(): Type[] {
  return [...CLASSES.keys()].flatMap(copiesOf) as Type[];
}

/** Let the classes of other copies lead to the instances of this one. */
export function providersForOtherCopies(): Provider[] {
  return [...CLASSES.keys()].flatMap((own) =>
    copiesOf(own)
      .slice(1)
      .map((copy) => ({ provide: copy, useExisting: own })),
  );
}
