// Runs one of the repository's tools to its end, its output passed through.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from './libraries.mjs';

/**
 * @param {string} tool - path of the tool's script below node_modules
 * @param {string[]} toolArguments
 * @param {{ cwd?: string }} [options]
 * @returns {Promise<boolean>} whether it ended well
 */
export async function runTool(tool, toolArguments, { cwd = ROOT } = {}) {
  const script = join(ROOT, 'node_modules', tool);
  const child = spawn(process.execPath, [script, ...toolArguments], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [exitCode] = await once(child, 'exit');
  return exitCode === 0;
}
