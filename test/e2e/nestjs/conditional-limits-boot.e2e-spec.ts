import type { PipeTransform } from '@nestjs/common';
import { Body, Controller, Get, Logger, Post } from '@nestjs/common';
import type { RateLimitable } from '@ratelease/nestjs';
import { ConcurrencyLimit, RateLimitingModule } from '@ratelease/nestjs';
import { PLATFORMS, bootError, startApp, stopApps } from './test-app.js';

class PeopleQuery implements RateLimitable {
  name?: string;

  get isLimit(): boolean {
    return this.name === undefined;
  }
}

/** As Nest's ValidationPipe, which needs packages that nobody here has. */
class PlainValidation implements PipeTransform {
  readonly isTransformEnabled = false;

  transform(value: unknown): unknown {
    return value;
  }
}

class TransformingPipe implements PipeTransform {
  transform(value: object): PeopleQuery {
    return Object.assign(new PeopleQuery(), value);
  }
}

describe('the boot of a conditional limit', () => {
  const platform = PLATFORMS[0]!;
  const imports = [RateLimitingModule.forRoot()];
  afterEach(stopApps);
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['no pipe at all', undefined, 1],
    ['validation that transforms nothing', new PlainValidation(), 1],
    ['a pipe that may transform', new TransformingPipe(), 0],
  ])('warns of plain JSON where the class knows isLimit: %s', async (_name, pipe, count) => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await startApp(platform, { imports, controllers: [OnlyPeopleController] }, (app) =>
      pipe === undefined ? undefined : app.useGlobalPipes(pipe),
    );
    const warnings = warn.mock.calls.filter(([text]) => String(text).includes('isLimit'));
    expect(warnings).toHaveLength(count);
    for (const [text] of warnings) expect(text).toContain('OnlyPeopleController.people');
  });

  it.each([0, -1, 1.5, Number.NaN, '8'])('stops at the limit %p, naming the method', async (limit) => {
    @Controller()
    class WrongController {
      @Get() @ConcurrencyLimit(limit as number) get(): string {
        return 'never';
      }
    }
    const error = await bootError(platform, { imports, controllers: [WrongController] });
    expect(error.code).toBe('ERR_RL_INVALID_OPTION');
    expect(error.message).toContain('WrongController.get: @ConcurrencyLimit()');
  });
});

@Controller()
class OnlyPeopleController {
  @Post('people')
  @ConcurrencyLimit(2)
  people(@Body() query: PeopleQuery): Promise<string> {
    return Promise.resolve(query.name ?? '');
  }
}
