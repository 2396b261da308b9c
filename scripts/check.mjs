// Runs every script of package.json that is called check:…, two at a time; shows what those say that fail, and closes
// with a line that names them.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './libraries.mjs';

const AT_ONCE = 2;
/** Takes about as long as all the others together: begun last, it would run alone. */
const LONGEST = 'check:built';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const checks = Object.keys(scripts).filter((name) => name.startsWith('check:') && !isPartOfAnother(name));
const waiting = [LONGEST, ...checks.filter((name) => name !== LONGEST)];
const failed = [];

await Promise.all(Array.from({ length: AT_ONCE }, worker));
if (failed.length > 0) {
  console.error(`\nFailed: ${failed.join(', ')}. Each can be run by itself: npm run ${failed[0]}`);
  process.exitCode = 1;
}

/** `check:built` runs those that need a build. */
function isPartOfAnother(name) {
  return Object.entries(scripts).some(
    ([other, command]) => other !== name && command.includes(`run ${name}`),
  );
}

async function worker() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const startMs = performance.now();
    const { code, output } = await run(name);
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds} s)`);
    if (code === 0) continue;
    failed.push(name);
    console.log(output.trim().replaceAll(/^/gm, '  '));
  }
}

function run(name) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', name], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.on('close', (code) => resolve({ code, output }));
  });
}
