import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { TranspiledPackages } from '../../processes/transpiled-packages.js';

/** The folder with the logs of the tests. */
export const LOGS = join(__dirname, 'fixtures');

/** How a command ended, and what it said. */
export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `ratelease-simulate` as a process of its own. */
export class SimulateCommand {
  readonly #packages = new TranspiledPackages(['limiters', 'simulate']);

  /** @param input - what it gets on standard input. */
  async run(args: readonly string[], input: string | Uint8Array = ''): Promise<CommandResult> {
    const main = this.#packages.fileOf('simulate', 'cli/main.js');
    const child = spawn(process.execPath, [main, ...args], { cwd: LOGS });
    const output = [text(child.stdout), text(child.stderr)] as const;
    // It may end before it has read anything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const [[code], stdout, stderr] = await Promise.all([once(child, 'close'), ...output]);
    return { code: code as number | null, stdout, stderr };
  }

  /** Runs it in a shell behind other commands: `{}` is the command. */
  async shell(line: string): Promise<CommandResult> {
    const main = this.#packages.fileOf('simulate', 'cli/main.js');
    const command = line.replaceAll('{}', `'${process.execPath}' '${main}'`);
    const child = spawn('bash', ['-c', command], { cwd: LOGS });
    child.stdin.end();
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code: code as number | null, stdout, stderr };
  }

  remove(): void {
    this.#packages.remove();
  }
}
