import type { CanActivate, INestApplication } from '@nestjs/common';
import { RateLimitingDashboardModule } from '@ratelease/dashboard';
import { RateLimitingModule } from '@ratelease/nestjs';
import { channel } from 'node:diagnostics_channel';
import type { Browser, Page } from 'playwright-core';
import { createDemo } from '../../apps/demo/src/create-demo.js';
import { eventually } from '../e2e/nestjs/fixtures/eventually.js';
import { PLATFORMS, startApp, stopApps } from '../e2e/nestjs/fixtures/test-app.js';
import type { WatchedPage } from './browser.js';
import { addressOf, launchBrowser, openPage } from './browser.js';

let browser: Browser;
let app: INestApplication;
let url: string;
const pages: WatchedPage[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

beforeEach(async () => {
  app = await createDemo({ platform: 'express' });
  await app.listen(0);
  url = `${addressOf(app)}/dashboard`;
});
afterEach(async () => {
  for (const { page } of pages.splice(0)) await page.context().close();
  await app.close();
  await stopApps();
});

async function open(options?: Parameters<typeof openPage>[2], address = url): Promise<WatchedPage> {
  const opened = await openPage(browser, address, options);
  pages.push(opened);
  return opened;
}

const live = (page: Page) => page.locator('#connection[data-state="live"]').waitFor();
const card = (page: Page, policy: string) => page.locator(`[data-policy="${policy}"]`);

/** A figure of a policy's card, once it holds. */
function figure(page: Page, policy: string, label: string, holds: (value: number) => boolean) {
  const value = card(page, policy).locator(`.figures div:has(dt:text-is("${label}")) dd`);
  return once(`${policy}, ${label}`, async () => Number(await value.textContent()), holds);
}

/** What the page shows, once it holds. */
async function once(what: string, read: () => Promise<number>, holds: (value: number) => boolean) {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (performance.now() > deadline) throw new Error(`${what}: still ${value}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Fills the form of the controls, and sends. */
async function send(page: Page, plan: Readonly<Record<string, string>>): Promise<void> {
  for (const name of ['target', 'shape']) await page.selectOption(`select[name="${name}"]`, plan[name]!);
  for (const name of ['rate', 'clients', 'concurrency', 'seconds'])
    await page.fill(`input[name="${name}"]`, plan[name]!);
  await page.getByRole('button', { name: 'Send' }).click();
}

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

describe('the dashboard in a browser', () => {
  it('shows a burst granted and refused, in charts and in tables, and whose it was', async () => {
    const { page, faults } = await open();
    await live(page);
    await send(page, {
      target: 'window',
      shape: 'burst',
      rate: '30',
      clients: '1',
      concurrency: '50',
      seconds: '1',
    });
    await page.locator('output', { hasText: /^Sent 30: 20 × 200, 10 × 429$/ }).waitFor();
    await card(page, 'window').locator('.facts', { hasText: '20 granted, 10 refused in all' }).waitFor();
    expect(await card(page, 'window').locator('canvas').first().isVisible()).toBe(true);
    await page.locator('#keys tr', { hasText: 'client=203.0.113.1' }).first().waitFor();

    await page.getByRole('button', { name: 'Tables' }).click();
    expect(await card(page, 'window').locator('canvas').first().isVisible()).toBe(false);
    const granted = card(page, 'window').locator('tbody tr td:nth-child(2)');
    // A second has its row once it is over, and the burst may lie across two.
    const sum = async () => (await granted.allTextContents()).reduce((all, each) => all + Number(each), 0);
    expect(await once('granted in the table', sum, (value) => value >= 20)).toBe(20);
    expect(faults).toEqual([]);
  });

  it('shows a queue that builds up and drains, and leases while they are held', async () => {
    const { page, faults } = await open();
    await live(page);
    await send(page, {
      target: 'queue',
      shape: 'burst',
      rate: '24',
      clients: '3',
      concurrency: '50',
      seconds: '1',
    });
    await card(page, 'queue').waitFor();
    expect(await figure(page, 'queue', 'waiting', (value) => value > 0)).toBeLessThanOrEqual(20);
    expect(await figure(page, 'queue', 'in use', (value) => value > 0)).toBeLessThanOrEqual(4);
    await page.locator('#leases tr', { hasText: 'ShapesController.queue' }).first().waitFor();
    await figure(page, 'queue', 'waiting', (value) => value === 0);
    await figure(page, 'queue', 'in use', (value) => value === 0);
    await page.locator('output', { hasText: /^Sent 24: 24 × 200$/ }).waitFor();
    await card(page, 'queue').locator('figcaption', { hasText: 'Time in the queue' }).waitFor();
    expect(faults).toEqual([]);
  });

  it('stops traffic that nobody wants any more', async () => {
    const { page } = await open();
    await live(page);
    await send(page, {
      target: 'queue',
      shape: 'steady',
      rate: '50',
      clients: '1',
      concurrency: '200',
      seconds: '60',
    });
    await figure(page, 'queue', 'waiting', (value) => value > 0);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('output', { hasText: /^Sent .* without an answer/ }).waitFor();
    await figure(page, 'queue', 'waiting', (value) => value === 0);
  });

  it('is used by keyboard alone', async () => {
    const { page } = await open();
    await live(page);
    const focused = () => page.evaluate<string>('document.activeElement?.textContent ?? ""');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('To the policies');
    let steps = 0;
    while ((await focused()) !== 'A window resets' && steps++ < 20) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await card(page, 'window').waitFor();
    await page.getByRole('button', { name: 'Stop' }).press('Space');
    const slider = card(page, 'window').getByRole('slider').first();
    await slider.focus();
    await page.keyboard.press('Home');
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^\d\d:\d\d:\d\d: refused 0, granted 0$/);
    expect(await slider.getAttribute('aria-valuenow')).toBe('0');
    await page.keyboard.press('ArrowRight');
    expect(await slider.getAttribute('aria-valuenow')).toBe('1');
    await page.keyboard.press('Escape');
    expect(await slider.getAttribute('aria-valuenow')).toBe('59');
  });

  it.each(['light', 'dark'] as const)('fits a phone of 360 pixels in %s mode', async (colorScheme) => {
    const { page, faults } = await open({ colorScheme, viewport: { width: 360, height: 740 } });
    await live(page);
    await page.getByRole('button', { name: 'A queue builds up and drains' }).click();
    await card(page, 'queue').locator('canvas').first().waitFor();
    expect(await overflow(page)).toBe(0);
    await page.getByRole('button', { name: 'Tables' }).click();
    expect(await overflow(page)).toBe(0);
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const red = Number(/\d+/.exec(background)![0]);
    expect(red > 128).toBe(colorScheme === 'light');
    expect(faults).toEqual([]);
  });

  it.each(PLATFORMS)('leaves no stream behind when its page closes: $name', async (platform) => {
    // Its dashboard records always, and this one must not.
    await app.close();
    const watched = await startApp(platform, {
      imports: [
        RateLimitingModule.forRoot({}),
        RateLimitingDashboardModule.forRoot({ guards: 'unguarded', recording: 'whileWatched' }),
      ],
    });
    const isWatched = (): boolean => channel('ratelease:acquired').hasSubscribers;
    const { page } = await open({}, `http://localhost:${watched.port}/rate-limits`);
    await live(page);
    expect(isWatched()).toBe(true);
    await page.goto('about:blank');
    await eventually(() => !isWatched());
  });

  it('finds a server again that was away', async () => {
    const { page } = await open();
    await live(page);
    const { port } = new URL(url);
    await app.close();
    await page.locator('#connection:not([data-state="live"])').waitFor();
    app = await createDemo({ platform: 'fastify' });
    await app.listen(Number(port));
    await live(page);
  });

  it.each(PLATFORMS)(
    'is not there for whom a guard refuses, nor goes on for them: $name',
    async (platform) => {
      let isOpen = false;
      const guard: CanActivate = { canActivate: () => isOpen };
      const guarded = await startApp(platform, {
        imports: [RateLimitingModule.forRoot({}), RateLimitingDashboardModule.forRoot({ guards: [guard] })],
      });
      const address = `http://localhost:${guarded.port}/rate-limits`;
      const refused = await open({}, address);
      expect(refused.faults).toContain(`403 ${address}`);

      isOpen = true;
      const { page } = await open({}, address);
      await live(page);
      isOpen = false;
      const again = await page.evaluate<number>(`fetch('${address}/stream').then(({ status }) => status)`);
      expect(again).toBe(403);
      await page.reload();
      expect(await page.locator('#connection').count()).toBe(0);
    },
  );
});
