// Takes the picture of the dashboard for the docs: starts the demo, lets a queue build
// up and drain, and writes docs/images/dashboard.webp. With a folder it also writes what a reviewer looks at: phone and
// desktop, light and dark, as PNG.
//
//   npm run picture:dashboard -- [folder]
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { ROOT } from './libraries.mjs';

const PORT = 3987;
const [folder] = process.argv.slice(2);
const DESKTOP = { width: 1180, height: 1070 };
const PHONE = { width: 390, height: 844 };
/** The queue has grown for fifteen seconds, and drains. */
const SHOWN_AFTER_MS = 16_500;

const demo = spawn(process.execPath, [join(ROOT, 'apps/demo/dist/main.js')], {
  env: { ...process.env, PORT: String(PORT) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(demo.stdout, 'data');
let browser;
try {
  browser = await chromium.launch({
    executablePath:
      process.env.CHROMIUM_PATH ?? execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(),
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  });
  const views = [{ name: 'desktop-light', viewport: DESKTOP, colorScheme: 'light' }];
  if (folder !== undefined) {
    views.push(
      { name: 'desktop-dark', viewport: DESKTOP, colorScheme: 'dark' },
      { name: 'phone-light', viewport: PHONE, colorScheme: 'light' },
      { name: 'phone-dark', viewport: PHONE, colorScheme: 'dark' },
    );
  }
  const pages = await Promise.all(views.map(open));
  await pages[0].getByRole('button', { name: 'A queue builds up and drains' }).click();
  await pages[0].waitForTimeout(SHOWN_AFTER_MS);
  const picture = await pages[0].screenshot();
  writeFileSync(join(ROOT, 'docs/images/dashboard.webp'), await asWebp(pages[0], picture));
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true });
    for (const [index, { name }] of views.entries())
      await pages[index].screenshot({ path: join(folder, `${name}.png`), fullPage: true });
  }
} finally {
  await browser?.close();
  demo.kill();
}

async function open({ viewport, colorScheme }) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.goto(`http://localhost:${PORT}/dashboard`);
  await page.locator('#connection[data-state="live"]').waitFor();
  return page;
}

/** The browser knows the format; Node does not. */
async function asWebp(page, png) {
  const blank = await page.context().newPage();
  const url = await blank.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = Object.assign(document.createElement('canvas'), {
      width: bitmap.width,
      height: bitmap.height,
    });
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    return canvas.toDataURL('image/webp', 0.9);
  }, png.toString('base64'));
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}
