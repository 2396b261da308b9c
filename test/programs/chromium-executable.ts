import type { SystemProgram } from './debian-program.js';
import { pathOf } from './debian-program.js';

const CHROMIUM: SystemProgram = {
  names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  variable: 'CHROMIUM_PATH',
  debianPackage: 'chromium',
  advice:
    'The tests of the dashboard need Chromium and start it themselves, but there is none on the PATH. Install it ' +
    '(Debian: "apt-get update && apt-get install chromium"), or set CHROMIUM_PATH to the executable of a Chromium or ' +
    'Chrome.',
};

/**
 * The path of Chromium.
 * @throws Error - that says what to do.
 */
export function chromiumExecutable(): string {
  return pathOf(CHROMIUM);
}
