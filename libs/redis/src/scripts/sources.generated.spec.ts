import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

test('the scripts are those of the Lua files', () => {
  const root = join(__dirname, '../../../..');
  const check = spawnSync(process.execPath, [join(root, 'scripts/embed-lua.mjs'), '--check'], {
    encoding: 'utf8',
  });
  expect(check.stderr).toBe('');
  expect(check.status).toBe(0);
});
