import { execFile } from 'node:child_process';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const PACKAGE = join(import.meta.dirname, '..');

it('the example of the README runs as it stands', async () => {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const example = /```js\n(.*?)```/s.exec(readme)?.[1] ?? '';
  await using folder = await mkdtempDisposable(join(tmpdir(), 'agentd-readme-'));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@agentd/source', '--input-type=module', '--eval', example],
    { cwd: PACKAGE, env: { PATH: process.env['PATH'], TMPDIR: folder.path } },
  );
  expect(stdout).toBe('You said: hello');
});
