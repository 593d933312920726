import { expect, it } from '@jest/globals';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeStage } from './stage.ts';

const onLinux = platform() === 'linux' ? it : it.skip;

onLinux('nothing is written through a folder that became a link [FS-11]', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentd-stage-')));
  try {
    await mkdir(join(folder, 'outside'));
    await symlink('outside', join(folder, 'inside'));
    const write = (path: string) =>
      writeStage(join(folder, path), { content: Buffer.from('x'), attributes: null }, () => undefined);
    await expect(write('inside/stage')).rejects.toMatchObject({ code: 'stale' });
    expect(await readFile(join(folder, 'outside', 'stage'), 'utf8')).toBe('');
    await write('outside/other');
    expect(await readFile(join(folder, 'outside', 'other'), 'utf8')).toBe('x');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
