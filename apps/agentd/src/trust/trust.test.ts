import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { surroundings } from '../situation.ts';
import { broughtBy } from './brought-files.ts';
import { trustStore } from './trust-store.ts';

let folder: string;
let workspace: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agentd-trust-')));
  workspace = join(folder, 'ws');
  await mkdir(join(folder, 'home'));
  await mkdir(workspace);
});
afterEach(async () => rm(folder, { recursive: true, force: true }));

async function bring(name: string, text: string): Promise<void> {
  const path = join(workspace, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const digest = async (): Promise<string | undefined> => (await broughtBy(workspace))?.digest;

describe('what a workspace brings', () => {
  it('is nothing in a workspace that configures nothing [PERM-11]', async () => {
    await bring('AGENTS.md', 'Be kind.');
    await bring('.agentd/notes.txt', 'mine');
    await mkdir(join(workspace, '.agentd', 'agents'));
    expect(await broughtBy(workspace)).toBeNull();
  });

  it('is settings, agents, skills and MCP servers, down to the last byte [PERM-11]', async () => {
    const files = ['.agentd/agents/a.md', '.agentd/config.toml', '.agentd/skills/s/run.sh', '.mcp.json'];
    const seen = new Set<string | undefined>();
    for (const file of files) {
      await bring(file, '1');
      seen.add(await digest());
      await bring(file, '2');
      seen.add(await digest());
    }
    expect(seen.size).toBe(8);
    expect((await broughtBy(workspace))?.files).toEqual(files);
    await rm(join(workspace, '.agentd/agents/a.md'));
    seen.add(await digest());
    expect(seen.size).toBe(9);
  });

  it('is not the same when text moves from one file to another [PERM-11]', async () => {
    await bring('.agentd/agents/a.md', 'xy');
    await bring('.agentd/agents/b.md', '');
    const before = await digest();
    await bring('.agentd/agents/a.md', 'x');
    await bring('.agentd/agents/b.md', 'y');
    expect(await digest()).not.toBe(before);
  });

  it('changes with what a link leads to, and refuses what cannot be looked at [PERM-11]', async () => {
    await writeFile(join(folder, 'elsewhere.md'), 'one');
    await mkdir(join(workspace, '.agentd/agents'), { recursive: true });
    await symlink(join(folder, 'elsewhere.md'), join(workspace, '.agentd/agents/l.md'));
    const before = await digest();
    await writeFile(join(folder, 'elsewhere.md'), 'two');
    expect(await digest()).not.toBe(before);
    await symlink('/dev/zero', join(workspace, '.mcp.json'));
    await expect(broughtBy(workspace)).rejects.toMatchObject({ code: 'AGENTD_SET_UP' });
  });
});

describe('trust', () => {
  it('holds for one digest of one workspace, in a file of the user alone [PERM-11]', async () => {
    const home = join(folder, 'home');
    const store = trustStore(home);
    await bring('.mcp.json', '{}');
    const options = { home, cwd: workspace };
    expect(await surroundings(options)).toMatchObject({
      workspaceBrings: 'untrusted',
      skipped: expect.stringMatching(/\.mcp\.json is not trusted: skipped/),
    });
    expect(await surroundings({ ...options, trust: true })).toMatchObject({ workspaceBrings: 'trusted' });
    await store.trust(workspace, (await digest()) ?? '');
    expect(await surroundings(options)).toMatchObject({ workspaceBrings: 'trusted', skipped: null });
    expect((await stat(join(home, 'trust.json'))).mode & 0o777).toBe(0o600);
    await bring('.mcp.json', '{ }');
    expect(await surroundings(options)).toMatchObject({
      workspaceBrings: 'untrusted',
      skipped: expect.stringMatching(/no longer what you trusted/),
    });
    expect([await store.revoke(workspace), await store.revoke(workspace)]).toEqual([true, false]);
  });

  it('is not needed to work where nobody can look at what there is: one line, skipped [PERM-11]', async () => {
    const options = { home: join(folder, 'home'), cwd: workspace };
    await symlink('/dev/zero', join(workspace, '.mcp.json'));
    expect(await surroundings(options)).toMatchObject({
      workspaceBrings: 'untrusted',
      skipped: expect.stringMatching(/\.mcp\.json is no file, and cannot be trusted: .* is skipped$/),
    });
  });

  it('trusts nothing by a damaged file [PERM-11] [field J18]', async () => {
    const home = join(folder, 'home');
    for (const damage of ['', '[]', '{"x":', `{${JSON.stringify(workspace)}: 5}`]) {
      await writeFile(join(home, 'trust.json'), damage);
      expect(await trustStore(home).digestOf(workspace)).toBeNull();
    }
  });
});
