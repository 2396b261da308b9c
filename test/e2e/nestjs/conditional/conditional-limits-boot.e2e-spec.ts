import type { PipeTransform } from '@nestjs/common';
import { Body, Controller, Get, Logger, Param, ParseIntPipe, Post, Query } from '@nestjs/common';
import type { RateLimitable } from '@ratelease/nestjs';
import { ConcurrencyLimit, RateLimitingModule } from '@ratelease/nestjs';
import { PLATFORMS, bootError, startApp, stopApps } from '../fixtures/test-app.js';

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

  it('warns of a limit that no request can need', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await startApp(platform, { imports, controllers: [IdleController] });
    const warnings = warn.mock.calls.map(([text]) => String(text));
    expect(warnings.map((text) => text.split(':')[0])).toEqual(
      ['nothing', 'primitives', 'another'].map((method) => `IdleController.${method}`),
    );
    expect(warnings[0]).toContain('limits nothing: it has no when, and no parameter is of a class');
  });

  it('warns of one where the compiler notes no types', async () => {
    class UntypedController {
      post(query: object): object {
        return query;
      }
    }
    Body()(UntypedController.prototype, 'post', 0);
    const method = Object.getOwnPropertyDescriptor(UntypedController.prototype, 'post')!;
    for (const decorate of [Post(), ConcurrencyLimit(1)])
      decorate(UntypedController.prototype, 'post', method);
    Controller()(UntypedController);
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation();
    await startApp(platform, { imports, controllers: [UntypedController] });
    expect(String(warn.mock.calls[0])).toContain('emitDecoratorMetadata');
    warn.mockClear();
    await startApp(platform, { imports, controllers: [UntypedController] }, (app) =>
      app.useGlobalPipes(new TransformingPipe()),
    );
    expect(warn).not.toHaveBeenCalled();
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

class FieldQuery implements RateLimitable {
  readonly isLimit = true;
}

class OtherQuery {
  name?: string;
}

class DerivedQuery extends FieldQuery {
  name?: string;
}

@Controller('idle')
class IdleController {
  @Get()
  @ConcurrencyLimit(8)
  nothing(): string {
    return 'nothing';
  }

  @Get(':id')
  @ConcurrencyLimit(8)
  primitives(@Param('id', ParseIntPipe) id: number, @Query('name') name: string): string {
    return `${id} ${name}`;
  }

  @Post('another')
  @ConcurrencyLimit(8)
  another(@Body() query: OtherQuery): string {
    return String(query.name);
  }

  @Post('made')
  @ConcurrencyLimit(8)
  made(@Body(TransformingPipe) query: OtherQuery): string {
    return String(query.name);
  }

  @Post('unknown')
  @ConcurrencyLimit(8)
  unknown(@Body() query: unknown): string {
    return String(query);
  }

  @Post('field')
  @ConcurrencyLimit(8)
  field(@Body() query: DerivedQuery): string {
    return String(query.name);
  }

  @Get('some/:id')
  @ConcurrencyLimit(8, { when: (id: string) => id === 'large' })
  some(@Param('id') id: string): string {
    return id;
  }
}
