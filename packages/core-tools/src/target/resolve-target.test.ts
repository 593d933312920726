import { describe, expect, it } from '@jest/globals';
import { link, mkdir, readdir, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tool } from '@agentd/contract';
import { createEditTool } from '../mutate/edit-tool.ts';
import { createWriteTool } from '../mutate/write-tool.ts';
import { createReadTool } from '../read/read-tool.ts';
import { contextIn, prepareCall, scratchFolder } from '../testing/calls.ts';
import { resolveTarget, targetKey } from './resolve-target.ts';

/** A workspace and a folder outside of it, with one file each, and links between them. */
async function setup() {
  const folder = await scratchFolder();
  const at = (name: string) => join(folder.path, name);
  await mkdir(at('ws/sub'), { recursive: true });
  await mkdir(at('out'));
  await writeFile(at('ws/f'), 'x');
  await writeFile(at('ws/..odd'), 'x');
  await writeFile(at('out/f'), 'x');
  await link(at('ws/f'), at('ws/hard'));
  await symlink('f', at('ws/soft'));
  await symlink('sub', at('ws/inside'));
  await symlink(at('out'), at('ws/outbox'));
  await symlink(at('out/new'), at('ws/dangling'));
  await symlink(at('ws'), at('root-link'));
  const ports = { artifacts: null, stages: null, home: at('ws') };
  const tools = { read: createReadTool(ports), write: createWriteTool(ports), edit: createEditTool(ports) };
  const prepare = (tool: Tool, filePath: string, cwd: string) => {
    const args = { read: {}, write: { content: 'y' }, edit: { oldString: 'x', newString: 'y' } }[
      tool.spec.name
    ];
    return prepareCall(tool, { filePath, ...args }, contextIn(cwd));
  };
  return { at, tools, prepare, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe('labels of files', () => {
  it('are relative inside the workspace, absolute outside, and of the resolved target [FS-11] [PERM-10] [field J12]', async () => {
    await using s = await setup();
    const out = s.at('out');
    for (const cwd of [s.at('ws'), s.at('root-link')]) {
      for (const tool of Object.values(s.tools)) {
        const label = async (filePath: string) => (await s.prepare(tool, filePath, cwd)).permission.label;
        expect(await label('f')).toBe('f');
        expect(await label('./sub/../f')).toBe('f');
        expect(await label('soft')).toBe('f');
        expect(await label('..odd')).toBe('..odd');
        expect(await label(join(cwd, 'f'))).toBe('f');
        expect(await label('../out/f')).toBe(join(out, 'f'));
        expect(await label('outbox/f')).toBe(join(out, 'f'));
      }
    }
  });

  it('are those of where a new file would be, through links that lead nowhere yet too [FS-11] [field J12]', async () => {
    await using s = await setup();
    const label = async (filePath: string) =>
      (await s.prepare(s.tools.write, filePath, s.at('root-link'))).permission.label;
    expect(await label('a/b')).toBe('a/b');
    expect(await label('inside/a/b')).toBe('sub/a/b');
    expect(await label('outbox/a/b')).toBe(s.at('out/a/b'));
    expect(await label('dangling')).toBe(s.at('out/new'));
    expect(await label('dangling/x')).toBe(s.at('out/new/x'));
    expect(await readdir(s.at('out'))).toEqual(['f']);
  });

  it('name the workspace itself "." and other folders by their path [FS-11]', async () => {
    await using s = await setup();
    const label = async (filePath: string) =>
      (await s.prepare(s.tools.read, filePath, s.at('ws'))).permission.label;
    expect([await label('.'), await label('inside'), await label('..')]).toEqual([
      '.',
      'sub',
      await realpath(s.at('.')),
    ]);
  });
});

describe('serialization keys', () => {
  it('are one for every name of an existing file, and for write and edit alike [FS-10]', async () => {
    await using s = await setup();
    const names = ['f', './sub/../f', 'soft', 'hard', s.at('root-link/f'), s.at('ws/f')];
    const keys = new Set<string | undefined>();
    for (const name of names) {
      for (const tool of [s.tools.write, s.tools.edit])
        keys.add((await s.prepare(tool, name, s.at('ws'))).serializationKey);
    }
    const { dev, ino } = await stat(s.at('ws/f'), { bigint: true });
    expect([...keys]).toEqual([`file:${dev}:${ino}`]);
    expect((await s.prepare(s.tools.write, '..odd', s.at('ws'))).serializationKey).not.toBe([...keys][0]);
    expect((await s.prepare(s.tools.read, 'f', s.at('ws'))).serializationKey).toBeUndefined();
  });

  it('are one for every name of an absent file; other names differ [FS-10] [field B21]', async () => {
    await using s = await setup();
    const key = async (name: string) => targetKey(await resolveTarget(s.at(name)));
    const names = ['out/new', 'ws/dangling', 'ws/outbox/new', 'root-link/outbox/new', 'out/NEW'];
    expect(new Set(await Promise.all(names.map(key))).size).toBe(1);
    const others = ['out/new2', 'ws/new', 'out/new/x', 'ws/sub/new'];
    expect(new Set(await Promise.all(['out/new', ...others].map(key))).size).toBe(5);
  });
});

describe('resolveTarget', () => {
  it('gives up on a circle of links [FS-11]', async () => {
    await using s = await setup();
    await symlink('b', s.at('a'));
    await symlink('a', s.at('b'));
    await expect(resolveTarget(s.at('a'))).rejects.toMatchObject({
      message: expect.stringContaining('ELOOP'),
    });
    await symlink(join('grow', 'x'), s.at('grow'));
    await expect(resolveTarget(s.at('grow'))).rejects.toMatchObject({
      code: expect.stringMatching(/failed|arguments/),
    });
  });

  it('says what is in the way of a path through a file [field B22]', async () => {
    await using s = await setup();
    await expect(resolveTarget(s.at('ws/f/x/y'))).rejects.toMatchObject({
      code: 'execution_failed',
      message: expect.stringContaining('ENOTDIR'),
    });
  });
});
