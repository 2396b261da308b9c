import type { INestApplication } from '@nestjs/common';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { chromiumExecutable } from '../programs/chromium-executable.js';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A page that is watched: what goes wrong in it is remembered. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of scripts and of the console, files that failed, and violations of the content security policy. */
  readonly faults: readonly string[];
}

/** Starts the browser; close it. */
export function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumExecutable(), args: FLAGS });
}

/** Opens an address in a window of its own. */
export async function openPage(
  browser: Browser,
  address: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(address);
  return { page, faults };
}

/** Where a listening application is. */
export function addressOf(app: INestApplication): string {
  const { port } = (app.getHttpServer() as { address(): AddressInfo }).address();
  return `http://localhost:${port}`;
}
