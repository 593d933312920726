import { describe, expect, it } from '@jest/globals';
import { mkdir, readFile, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEditTool } from '../mutate/edit-tool.ts';
import { createWriteTool } from '../mutate/write-tool.ts';
import { createReadTool } from '../read/read-tool.ts';
import { callTool, contextIn, finishCall, prepareCall, scratchFolder, textOf } from '../testing/calls.ts';

async function setup(...names: readonly string[]) {
  const folder = await scratchFolder();
  const { path } = folder;
  for (const name of names) await writeFile(join(path, name), `in ${name}`);
  const ports = { artifacts: null, stages: null, home: path };
  const tools = { read: createReadTool(ports), edit: createEditTool(ports), write: createWriteTool(ports) };
  return {
    path,
    tools,
    at: (name: string) => join(path, name),
    read: (filePath: string) => callTool(tools.read, { filePath }, contextIn(path)),
    edit: (filePath: string) =>
      callTool(tools.edit, { filePath, oldString: 'in ', newString: 'IN ' }, contextIn(path)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const nothing = { code: 'not_found' };

describe('a name that does not exist', () => {
  it.each([
    ['a narrow space', 'Shot at 1.01.11\u202fAM.png', 'Shot at 1.01.11 AM.png'],
    ['a no-break space', 'Snimek v\u00a013.05.png', 'Snimek v 13.05.png'],
    ['a space given as another', 'a b', 'a\u3000b'],
    ['a curly apostrophe', 'Capture d\u2019\u00e9cran', "Capture d'\u00e9cran"],
    ['a straight apostrophe', "it's", 'it\u2019s'],
    ['decomposed accents', 'cafe\u0301', 'caf\u00e9'],
    ['composed accents', '\ud55c', '\u1112\u1161\u11ab'],
    ['all of them', 'l\u2019e\u0301te\u0301\u202fici', "l'\u00e9t\u00e9 ici"],
  ])(
    'opens the only one that differs in %s, and reports it [FS-16] [field A19]',
    async (_what, name, asked) => {
      await using s = await setup(name, 'another');
      const page = await s.read(asked);
      expect(textOf(page)).toContain(`<path>${s.at(name)}</path>`);
      expect(textOf(page)).toContain(`1: in ${name}`);
      expect(page.metadata).toMatchObject({ asked_path: s.at(asked) });

      const edited = await s.edit(asked);
      expect(textOf(edited)).toBe(
        `Edited ${name} (line 1). Its name differs from the one asked for in characters that look alike.`,
      );
      expect(edited.metadata).toMatchObject({ path: s.at(name), asked_path: s.at(asked) });
      expect(await readFile(s.at(name), 'utf8')).toBe(`IN ${name}`);
      expect((await readdir(s.path)).toSorted()).toEqual([name, 'another'].toSorted());
    },
  );

  it('lists several candidates so that one can be given exactly [FS-16] [field A19]', async () => {
    await using s = await setup('a\u202fb', 'a\u00a0b', 'caf\u00e9 x', 'cafe\u0301\u00a0x');
    for (const call of [s.read, s.edit]) {
      await expect(call('a b')).rejects.toMatchObject({
        ...nothing,
        message: expect.stringContaining('2 names look like it: "a\\u00a0b", "a\\u202fb".'),
      });
      await expect(call('cafe\u0301\u202fx')).rejects.toMatchObject({
        message: expect.stringContaining('"cafe\\u0301\\u00a0x", "caf\\u00e9 x"'),
      });
    }
    expect(textOf(await s.read('a\u202fb'))).toContain('1: in a\u202fb');
  });

  it('never beats one that does exist [FS-16] [field A19]', async () => {
    await using s = await setup('a\u202fb', 'a b');
    const page = await s.read('a b');
    expect(textOf(page)).toContain('1: in a b\n');
    expect(page.metadata).not.toHaveProperty('asked_path');
    expect(textOf(await s.edit('a\u202fb'))).toBe('Edited a\u202fb (line 1).');
  });

  it('stays absent where a name differs in anything else [FS-16]', async () => {
    await using s = await setup('A b', 'a  b', 'ab', '"x"', 'fi');
    for (const asked of ['a b', 'a\u200bb', '\u201cx\u201d', '\ufb01']) {
      await expect(s.read(asked)).rejects.toMatchObject(nothing);
    }
  });

  it('is found in folders on the way too, and through links [FS-16]', async () => {
    await using s = await setup();
    await mkdir(s.at('dir\u00a0one/l\u2019autre'), { recursive: true });
    await writeFile(s.at('dir\u00a0one/l\u2019autre/f\u202f1'), 'deep');
    await symlink('dir\u00a0one', s.at('the\u202flink'));
    for (const asked of ["dir one/l'autre/f 1", "the link/l'autre/f 1"]) {
      expect(textOf(await s.read(asked))).toContain(
        `<path>${s.at('dir\u00a0one/l\u2019autre/f\u202f1')}</path>`,
      );
    }
    await expect(s.read("dir one/l'autre/f 2")).rejects.toMatchObject({
      ...nothing,
      message: expect.stringContaining(`does not exist; the nearest folder that does is ${s.path}`),
    });
  });

  it('is made by write as asked: the look-alike stays what it is [FS-16] [FS-7]', async () => {
    await using s = await setup('a\u202fb');
    await callTool(s.tools.write, { filePath: 'a b', content: 'new' }, contextIn(s.path));
    expect([await readFile(s.at('a b'), 'utf8'), await readFile(s.at('a\u202fb'), 'utf8')]).toEqual([
      'new',
      'in a\u202fb',
    ]);
  });

  it('is stale when the exact name, or another look-alike, appears after approval [FS-16] [FS-6]', async () => {
    await using s = await setup('a\u202fb');
    const args = { filePath: 'a b' };
    const calls = async () => [
      await prepareCall(s.tools.read, args, contextIn(s.path)),
      await prepareCall(s.tools.edit, { ...args, oldString: 'in', newString: 'IN' }, contextIn(s.path)),
    ];
    for (const name of ['a b', 'a\u00a0b']) {
      const prepared = await calls();
      expect(prepared.map(({ permission }) => permission.label)).toEqual(['a\u202fb', 'a\u202fb']);
      await writeFile(s.at(name), 'exact');
      for (const call of prepared) {
        await expect(finishCall(call)).rejects.toMatchObject({
          code: expect.stringMatching(/^(stale|not_found)$/),
        });
      }
      await rename(s.at(name), s.at('away'));
    }
    expect(await readFile(s.at('a\u202fb'), 'utf8')).toBe('in a\u202fb');
  });
});
