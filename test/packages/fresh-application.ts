import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../ports/free-port.js';
import type { PackedLibrary } from './packed-library.js';
import { entryNames, npm, ROOT } from './packed-library.js';

/** The names of the folders of `applications`: each is what the Nest CLI makes, with some limits added. */
export type Template = 'nest12' | 'nest11';

/** The libraries as tarballs. */
export interface Packed {
  readonly folder: string;
  readonly libraries: readonly PackedLibrary[];
}

/** How a command ended. */
export interface Ending {
  readonly exitCode: number;
  readonly output: string;
}

type Dependencies = Record<string, string>;

interface ApplicationManifest {
  dependencies: Dependencies;
  devDependencies: Dependencies;
}

/** An application outside of the repository, with the packed libraries installed as a user installs them. */
export class FreshApplication {
  readonly folder: string;
  #server: ChildProcess | undefined = undefined;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the application and installs everything, the libraries from where they were packed. */
  static create(template: Template, packed: Packed): FreshApplication {
    const folder = mkdtempSync(join(tmpdir(), `ratelease-fresh-${template}-`));
    cpSync(join(__dirname, 'applications', template), folder, { recursive: true });
    cpSync(join(__dirname, 'applications/both-copies'), join(folder, 'both-copies'), { recursive: true });
    writeFileSync(join(folder, 'src/every-entry.ts'), everyEntry());
    writeManifest(folder, template, packed);
    npm(['install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'], folder);
    return new FreshApplication(folder);
  }

  /** What the compiler says in its strictest mood, looking into the declarations of all packages. */
  compile(): Promise<Ending> {
    const strict = ['--strict', '--skipLibCheck', 'false', '--types', 'node'];
    return this.run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', ...strict);
  }

  /** Runs Node to its end, in the application's folder. */
  run(...nodeArguments: string[]): Promise<Ending> {
    return new Promise((resolve) => {
      const options = { cwd: this.folder, encoding: 'utf8', env: plainEnvironment() } as const;
      const child = execFile(process.execPath, nodeArguments, options, (_error, stdout, stderr) => {
        resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr });
      });
    });
  }

  /** Starts what was compiled, and resolves with the port on which it listens. */
  async start(): Promise<number> {
    const port = await freePort();
    const server = spawn(process.execPath, ['dist/main.js'], {
      cwd: this.folder,
      env: { ...plainEnvironment(), PORT: String(port) },
    });
    this.#server = server;
    let output = '';
    const listen = (chunk: unknown): void => void (output += String(chunk));
    server.stdout.on('data', listen);
    server.stderr.on('data', listen);
    // Nest says that it has started before it listens.
    while (!(await accepts(port))) {
      if (server.exitCode !== null) throw new Error(`The application ended before it listened:\n${output}`);
    }
    return port;
  }

  async remove(): Promise<void> {
    const server = this.#server;
    if (server !== undefined && server.exitCode === null) {
      server.kill();
      await once(server, 'exit');
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    await setTimeout(50);
    return false;
  } finally {
    socket.destroy();
  }
}

/** Makes the compiler read the declarations of everything that can be imported. */
function everyEntry(): string {
  const names = entryNames();
  const imports = names.map((name, index) => `import * as entry${index} from '${name}';`);
  const entries = names.map((_name, index) => `entry${index}`);
  return [...imports, '', `export const entries: object[] = [${entries.join(', ')}];`, ''].join('\n');
}

function writeManifest(folder: string, template: Template, packed: Packed): void {
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as ApplicationManifest;
  for (const kind of ['dependencies', 'devDependencies'] as const) {
    for (const [name, range] of Object.entries(manifest[kind])) {
      manifest[kind][name] = versionAtHand(name, range, template);
    }
  }
  for (const { name, filename } of packed.libraries) {
    manifest.dependencies[name] = `file:${join(packed.folder, filename)}`;
  }
  writeFileSync(path, JSON.stringify(manifest, null, 2));
}

/** The version that the repository itself has installed, which npm has in its cache, where it is of the same major. */
function versionAtHand(name: string, range: string, template: Template): string {
  const places = [
    ...(template === 'nest11' ? [join(ROOT, 'test/nest11')] : []),
    join(ROOT, 'libs/redis'),
    ROOT,
  ];
  const versions = places.flatMap((place) => {
    try {
      const manifest = require.resolve(`${name}/package.json`, { paths: [place] });
      return [(JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version];
    } catch {
      return [];
    }
  });
  return versions.find((version) => version.split('.')[0] === /\d+/.exec(range)?.[0]) ?? range;
}

/** Without what Jest and npm have added, which would change how Node and Nest behave. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const added = /^(npm_|JEST_|NODE_ENV$|NODE_OPTIONS$|NODE_TEST_CONTEXT$)/i;
  const own = Object.entries(process.env).filter(([name]) => !added.test(name));
  return { ...Object.fromEntries(own), NO_COLOR: '1' };
}
