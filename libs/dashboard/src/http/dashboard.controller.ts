import type { MessageEvent, Type } from '@nestjs/common';
import {
  Controller,
  Get,
  Header,
  Inject,
  NotFoundException,
  Param,
  Req,
  Res,
  Sse,
  UseGuards,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { DisableRateLimiting } from '@ratelease/nestjs';
import type { Observable } from 'rxjs';
import { ASSETS } from '../assets/assets.generated.js';
import type { DashboardSettings } from '../module/dashboard-settings.js';
import { DASHBOARD_SETTINGS } from '../module/tokens.js';
import { LiveStream } from '../stream/live-stream.js';
import { relativeBase } from './page-address.js';
import { pageHtml } from './page-html.js';

/** Only files of this application, no inline code, and no other page around it. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface AnyRequest {
  readonly originalUrl?: string;
  readonly url: string;
}

interface AnyResponse {
  header(name: string, value: string): unknown;
}

class DashboardController {
  readonly #settings: DashboardSettings;
  readonly #stream: LiveStream;

  constructor(
    @Inject(DASHBOARD_SETTINGS) settings: DashboardSettings,
    @Inject(LiveStream) stream: LiveStream,
  ) {
    this.#settings = settings;
    this.#stream = stream;
  }

  @Get()
  @Header('Content-Type', 'text/html; charset=utf-8')
  @Header('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  @Header('X-Content-Type-Options', 'nosniff')
  @Header('Referrer-Policy', 'no-referrer')
  @Header('Cache-Control', 'no-store')
  page(@Req() request: AnyRequest): string {
    const { title, scripts } = this.#settings;
    return pageHtml({ base: relativeBase(request.originalUrl ?? request.url), title, scripts });
  }

  @Sse('stream')
  @Header('X-Accel-Buffering', 'no')
  stream(): Observable<MessageEvent> {
    return this.#stream.watch();
  }

  @Get('assets/:name')
  @Header('X-Content-Type-Options', 'nosniff')
  @Header('Cache-Control', 'private, no-cache')
  asset(@Param('name') name: string, @Res({ passthrough: true }) response: AnyResponse): string {
    const asset = name === 'index.html' || !Object.hasOwn(ASSETS, name) ? undefined : ASSETS[name];
    if (asset === undefined) throw new NotFoundException(`The dashboard has no file ${name}.`);
    response.header('Content-Type', asset.type);
    return asset.text;
  }
}

/** A controller at the path, behind the guards. Limits don't apply to it: who looks at them spends nothing. */
export function dashboardController({ path, guards }: DashboardSettings): Type {
  @Controller({ path, version: VERSION_NEUTRAL })
  @UseGuards(...guards)
  @DisableRateLimiting()
  class RateLimitingDashboardController extends DashboardController {}
  return RateLimitingDashboardController;
}
