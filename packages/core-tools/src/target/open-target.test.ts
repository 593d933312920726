import { expect, it } from '@jest/globals';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTarget } from './open-target.ts';

const onLinux = platform() === 'linux' ? it : it.skip;

onLinux('what was prepared is not opened through a folder that became a link [FS-11] [FS-5]', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentd-open-')));
  try {
    const path = join(folder, 'inside', 'secret');
    await mkdir(join(folder, 'outside'));
    await writeFile(join(folder, 'outside', 'secret'), 'x');
    // As if the folder had been exchanged after its real path was found, and before its file was looked at.
    await symlink('outside', join(folder, 'inside'));
    await expect(openTarget({ path }, () => true)).rejects.toMatchObject({ code: 'stale' });
    const own = await openTarget({ path: join(folder, 'outside', 'secret') }, () => true);
    expect(await own.readFile('utf8')).toBe('x');
    await own.close();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
