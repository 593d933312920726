import { describe, expect, it } from '@jest/globals';
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomIds } from '@agentd/contract';
import { countingIds } from '@agentd/contract/testing';
import { scratchFolder } from '../testing/calls.ts';
import { nativeFileLocks } from '../testing/native-file-locks.ts';
import { fileStageJournal } from './stage-journal.ts';

async function setup() {
  const folder = await scratchFolder();
  const at = (name: string) => join(folder.path, name);
  const journal = (ids = randomIds) =>
    fileStageJournal({ folder: at('stages'), locks: nativeFileLocks, ids });
  return { at, journal, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

const stageName = (): string => `.agentd-stage-${randomIds.uuid()}`;

describe('fileStageJournal', () => {
  it('records a name before it is used and forgets it afterwards, twice if asked [FS-9]', async () => {
    await using s = await setup();
    const stage = s.at(stageName());
    const record = await s.journal(countingIds()).record(stage);
    const [name = ''] = await readdir(s.at('stages'));
    expect(name).toBe('00000000-0000-4000-8000-000000000001.json');
    expect(JSON.parse(await readFile(s.at(`stages/${name}`), 'utf8'))).toEqual({ stage });
    await record.forget();
    await record.forget();
    expect(await readdir(s.at('stages'))).toEqual([]);
  });

  it('leaves the stage of a living writer alone [FS-9]', async () => {
    await using s = await setup();
    const stage = s.at(stageName());
    const record = await s.journal().record(stage);
    await writeFile(stage, 'half');
    expect(await s.journal().cleanAbandonedStages()).toEqual([]);
    expect(await readFile(stage, 'utf8')).toBe('half');
    await record.forget();
  });

  it('takes another record when one is held by somebody else [FS-9]', async () => {
    await using s = await setup();
    await mkdir(s.at('stages'));
    const held = await nativeFileLocks.tryExclusive(s.at('stages/00000000-0000-4000-8000-000000000001.json'));
    const record = await s.journal(countingIds()).record(s.at(stageName()));
    expect(await readdir(s.at('stages'))).toHaveLength(2);
    await record.forget();
    await held?.release();
  });

  it('removes only what bears the name of a stage, whatever a record says [FS-9]', async () => {
    await using s = await setup();
    await mkdir(s.at('stages'));
    await mkdir(s.at('precious'));
    const through = s.at(stageName());
    await symlink(s.at('precious'), through);
    await writeFile(s.at('precious/f'), 'x');
    const records = [
      JSON.stringify({ stage: s.at('precious') }),
      '{"stage":5}',
      'torn {',
      '',
      JSON.stringify({ stage: through }),
    ];
    for (const [index, text] of records.entries()) await writeFile(s.at(`stages/${index}.json`), text);
    expect(await s.journal().cleanAbandonedStages()).toEqual([through]);
    expect(await readdir(s.at('precious'))).toEqual(['f']);
    expect(await readdir(s.at('stages'))).toEqual([]);
  });

  it('has nothing to clean where nothing was ever staged [FS-9]', async () => {
    await using s = await setup();
    expect(await s.journal().cleanAbandonedStages()).toEqual([]);
  });
});
