import { chmod, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { homeFolder, prepareHome, realWorkspace } from './home.ts';

describe('homeFolder', () => {
  it('is AGENTD_HOME, else --home, else ~/.agentd [CFG-1]', () => {
    expect(homeFolder('/flag', { AGENTD_HOME: '/env' })).toBe('/env');
    expect(homeFolder('/flag', {})).toBe('/flag');
    expect(homeFolder('/flag', { AGENTD_HOME: '' })).toBe('/flag');
    expect(homeFolder(undefined, {})).toBe(join(homedir(), '.agentd'));
    expect(homeFolder('rel', {})).toBe(join(process.cwd(), 'rel'));
  });
});

describe('prepareHome', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentd-home-'));
  });
  afterAll(async () => rm(folder, { recursive: true }));

  it('makes the folder and its parents for its owner alone [CFG-1]', async () => {
    const home = join(folder, 'a', 'b');
    await prepareHome(home);
    await prepareHome(home);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
  });

  it('leaves an existing folder as it is [CFG-1]', async () => {
    const home = join(folder, 'open');
    await prepareHome(home);
    await chmod(home, 0o755);
    await prepareHome(home);
    expect((await stat(home)).mode & 0o777).toBe(0o755);
  });

  it('names the folder and the reason when it cannot be [CLI-3]', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    await expect(prepareHome(join(file, 'x'))).rejects.toMatchObject({
      code: 'AGENTD_SET_UP',
      message: expect.stringContaining(`${file}/x cannot be written: it, or a parent, is not a folder`),
    });
  });

  it('finds the real path of a workspace [CFG-1]', async () => {
    const link = join(folder, 'link');
    await symlink(tmpdir(), link);
    expect(await realWorkspace(link)).toBe(await realWorkspace(tmpdir()));
  });
});
