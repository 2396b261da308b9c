import { minify } from '@swc/core';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/**
 * About what a bundler would ship of an entry: all modules of the package that it reaches, each minified for itself, compressed
 * together, in bytes.
 */
export async function minifiedAndCompressed(entry: string): Promise<number> {
  const modules = new Set([entry]);
  // A set hands out what is added while it is walked.
  for (const path of modules) for (const imported of importedFiles(path)) modules.add(imported);
  const minified = await Promise.all([...modules].map(minifiedModule));
  return gzipSync(minified.join('\n')).length;
}

function importedFiles(path: string): string[] {
  const specifiers = [
    ...readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^'"]*['"](\.[^'"]+)['"]/gm),
  ];
  return specifiers.map(([, specifier]) => join(dirname(path), specifier!));
}

async function minifiedModule(path: string): Promise<string> {
  const options = { module: true, compress: true, mangle: true, sourceMap: false } as const;
  return (await minify(readFileSync(path, 'utf8'), options)).code;
}
