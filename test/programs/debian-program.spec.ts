import type { SystemProgram } from './debian-program.js';
import { pathOf } from './debian-program.js';

const program = (changes: Partial<SystemProgram>): SystemProgram => ({
  names: ['no-such-program', 'node'],
  debianPackage: 'none',
  advice: 'Install it yourself.',
  ...changes,
});

describe('a program of the system', () => {
  it('is found on the PATH, by any of its names', () => {
    expect(pathOf(program({}))).toMatch(/\/node$/);
  });

  it('is the one that a variable names, or an error says that it is not there', () => {
    process.env['RATELEASE_TEST_PROGRAM'] = process.execPath;
    expect(pathOf(program({ variable: 'RATELEASE_TEST_PROGRAM' }))).toBe(process.execPath);
    process.env['RATELEASE_TEST_PROGRAM'] = '/nowhere';
    expect(() => pathOf(program({ variable: 'RATELEASE_TEST_PROGRAM' }))).toThrow(
      'RATELEASE_TEST_PROGRAM is /nowhere, where nothing is. Install it yourself.',
    );
    delete process.env['RATELEASE_TEST_PROGRAM'];
  });
});
