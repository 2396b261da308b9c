// Runs before a library is packed, in its folder: refuses to pack what was not built from the sources as they are.
import { basename } from 'node:path';
import { staleFormats } from './built.mjs';

const folder = process.cwd();
const stale = staleFormats(folder);
if (stale.length > 0) {
  console.error(
    `libs/${basename(folder)}: dist has no ${stale.join(' and no ')} made of the present sources. Run: npm run build`,
  );
  process.exitCode = 1;
}
