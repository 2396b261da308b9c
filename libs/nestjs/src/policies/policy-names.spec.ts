import { resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(__dirname, '../../../..');
const USE = `
  import { EnableRateLimiting, RateLimitingModule, byClient } from '@ratelease/nestjs';
  const policy = { algorithm: 'fixedWindow', permitLimit: 1, windowMs: 1_000, key: byClient() } as const;
  export class Known { @EnableRateLimiting('burst') known(): void {} }
  export class Typo { @EnableRateLimiting('brust') typo(): void {} }
  export class Several { @EnableRateLimiting(['burst', 'brust'], { inherit: true }) several(): void {} }
  export const right = RateLimitingModule.forRoot({ policies: { burst: policy } });
  export const wrong = RateLimitingModule.forRoot({ policies: { brust: policy } });
`;
const DECLARATION = `
  declare module '@ratelease/nestjs' { interface RateLimitingPolicies { burst: true; sustained: true } }
`;

/** The compiler's complaints about a program of its own: declared names hold for a whole program. */
function complaints(source: string): string[] {
  const { config } = ts.readConfigFile(resolve(ROOT, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, ROOT);
  const file = resolve(ROOT, 'libs/nestjs/src/declared-names.ts');
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists.call(host, path);
  host.getSourceFile = (path, ...rest) =>
    path === file
      ? ts.createSourceFile(path, source, ts.ScriptTarget.ES2022)
      : getSourceFile.call(host, path, ...rest);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

// That any text is a name while none is declared, all other specs show.
describe('policy names', () => {
  it('make a typo a compile error once they are declared, and nothing else', () => {
    const found = complaints(DECLARATION + USE);
    expect(found).toHaveLength(3);
    for (const complaint of found) expect(complaint).toContain('brust');
  });
});
