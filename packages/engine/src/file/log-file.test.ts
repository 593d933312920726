import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { openLogFile } from './log-file.ts';
import { temporaryFolders } from './testing/temporary-folder.ts';

const FILL = fileURLToPath(new URL('testing/fill-log.ts', import.meta.url));
const newFolder = temporaryFolders();

describe('openLogFile', () => {
  it('appends to what is there, and cuts it first where it is told to', async () => {
    const path = join(await newFolder(), 'log');
    await writeFile(path, 'one\ntorn');
    const file = await openLogFile(path, { tail: { offset: 4, whole: false } });
    await file.append(Buffer.from('two\n'));
    await file.sync();
    await file.close();
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  });

  it('ends the line of a whole event first', async () => {
    const path = join(await newFolder(), 'log');
    await writeFile(path, 'one');
    const file = await openLogFile(path, { tail: { offset: 0, whole: true } });
    await file.append(Buffer.from('two\n'));
    await file.close();
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
  });

  it('cuts off again what was written of a line before the file was full', async () => {
    const path = join(await newFolder(), 'log');
    // ulimit -f counts blocks of 1,024 bytes; the signal that comes with it is ignored, so that the write fails.
    const { status, stdout } = spawnSync(
      'bash',
      [
        '-c',
        `trap '' XFSZ; ulimit -f 2; exec "$@"`,
        'bash',
        process.execPath,
        '--conditions=@agentd/source',
        FILL,
        path,
      ],
      { encoding: 'utf8' },
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'EFBIG\n' });
    const text = await readFile(path, 'utf8');
    expect(text).toBe(`${'x'.repeat(999)}\n`.repeat(2));
  });

  it('tells a full device from success', async () => {
    const file = await openLogFile('/dev/full');
    await expect(file.append(Buffer.from('x\n'))).rejects.toMatchObject({ code: 'ENOSPC' });
    await file.close();
  });
});
