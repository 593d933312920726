import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadWorkspaceNotes } from './workspace-notes.ts';

describe('loadWorkspaceNotes', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'agentd-notes-'));
  });
  afterEach(async () => rm(folder, { recursive: true }));

  it('has nothing to say without a file, or with an empty one [CFG-1]', async () => {
    expect(await loadWorkspaceNotes(folder)).toBeNull();
    await writeFile(join(folder, 'AGENTS.md'), ' \n');
    expect(await loadWorkspaceNotes(folder)).toBeNull();
  });

  it('takes AGENTS.md before CLAUDE.md, and skips what is no file [CFG-1]', async () => {
    await writeFile(join(folder, 'CLAUDE.md'), 'second');
    await mkdir(join(folder, 'AGENTS.md'));
    expect(await loadWorkspaceNotes(folder)).toEqual({ path: join(folder, 'CLAUDE.md'), text: 'second' });
    await rm(join(folder, 'AGENTS.md'), { recursive: true });
    await writeFile(join(folder, 'AGENTS.md'), 'first');
    expect(await loadWorkspaceNotes(folder)).toEqual({ path: join(folder, 'AGENTS.md'), text: 'first' });
  });

  it('cuts at 32 KiB on a whole character, and says so [CFG-1]', async () => {
    const path = join(folder, 'AGENTS.md');
    await writeFile(path, 'x'.repeat(32 * 1024));
    expect((await loadWorkspaceNotes(folder))?.text).toBe('x'.repeat(32 * 1024));
    await writeFile(path, `x${'é'.repeat(20_000)}`);
    const text = (await loadWorkspaceNotes(folder))?.text ?? '';
    expect(text).toMatch(/^xé+\n\[… cut at 32768 bytes; read the file for the rest\]\n$/);
    expect(Buffer.byteLength(text)).toBeLessThan(32 * 1024 + 100);
  });
});
