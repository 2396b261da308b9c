import { ConcurrencyLimit } from './concurrency-limit.js';
import { DisableRateLimiting } from './disable-rate-limiting.js';
import { EnableRateLimiting } from './enable-rate-limiting.js';

const DECORATORS = [
  ['@EnableRateLimiting()', () => EnableRateLimiting('slots')],
  ['@DisableRateLimiting()', () => DisableRateLimiting()],
  ['@ConcurrencyLimit()', () => ConcurrencyLimit(2)],
] as const;

/** Each makes the class, with the decorator where it has no effect. */
const PLACES: readonly (readonly [string, string, (decorator: MethodDecorator) => unknown])[] = [
  [
    'a getter',
    'Jobs.list, which is a getter or setter',
    (decorator) => {
      class Jobs {
        @decorator
        get list(): string {
          return 'jobs';
        }
      }
      return Jobs;
    },
  ],
  [
    'a static method',
    'Jobs.list, which is a static method',
    (decorator) => {
      class Jobs {
        @decorator
        static list(): string {
          return 'jobs';
        }
      }
      return Jobs;
    },
  ],
  [
    'a property, though it is a function',
    'Jobs.list, which is a property',
    (decorator) => {
      class Jobs {
        @(decorator as PropertyDecorator)
        list = (): string => 'jobs';
      }
      return Jobs;
    },
  ],
  [
    'a static property',
    'Jobs.list, which is a static property',
    (decorator) => {
      class Jobs {
        @(decorator as PropertyDecorator)
        static list = (): string => 'jobs';
      }
      return Jobs;
    },
  ],
];

describe.each(DECORATORS)('%s', (name, decorator) => {
  it.each(PLACES)('says that it has no effect on %s', (_, what, decorate) => {
    const failed = failureOf(() => decorate(decorator()));
    expect(failed).toMatchObject({
      name: 'RateLimitingConfigurationError',
      code: 'ERR_RL_INVALID_ENDPOINT',
      message: `${name} stands on ${what}: Nest never calls it for a request. Put it on a method, or on the class.`,
    });
  });
});

it('says that options of a conditional limit are none, as where the parentheses are missing', () => {
  const bare = ConcurrencyLimit as unknown as MethodDecorator;
  const decorate = (): unknown => {
    class Jobs {
      @bare
      list(): string {
        return 'jobs';
      }
    }
    return Jobs;
  };
  expect(failureOf(decorate)).toMatchObject({
    code: 'ERR_RL_INVALID_OPTION',
    message: '@ConcurrencyLimit() takes an options object behind the limit, but got "list".',
  });
  expect(failureOf(() => ConcurrencyLimit(1, { whn: () => true } as never))).toMatchObject({
    code: 'ERR_RL_UNKNOWN_OPTION',
    message: '@ConcurrencyLimit() got the unknown option "whn". Did you mean "when"?',
  });
});

function failureOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}
