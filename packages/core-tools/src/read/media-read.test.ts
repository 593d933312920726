import { createHash } from 'node:crypto';
import { rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { toolError, type MediaCandidate, type MediaGate, type ModelInfo } from '@agentd/contract';
import { callTool, contextIn, finishCall, prepareCall, scratchFolder, textOf } from '../testing/calls.ts';
import { createReadTool } from './read-tool.ts';

const PICTURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, ...Buffer.alloc(1230, 7)]);
const MODEL: ModelInfo = {
  id: 'lab/eye',
  provider: 'lab',
  model: 'eye',
  family: 'anthropic',
  input: ['text', 'image'],
  toolCalling: true,
  contextTokens: 1000,
  outputTokens: 100,
};

/** A gate that takes what begins like a PNG, and keeps what it was asked. */
function pngGate(): MediaGate & { readonly asked: MediaCandidate[] } {
  const asked: MediaCandidate[] = [];
  const admit: MediaGate['admit'] = async (candidate, signal) => {
    asked.push(candidate);
    const { content, name } = candidate;
    if (!('read' in content)) throw new Error('a file is read as far as it is needed');
    const head = await content.read(0, 4, signal);
    if (!PICTURE.subarray(0, 4).equals(head)) return null;
    const bytes = await content.read(0, content.byteLength, signal);
    if (bytes.at(-1) === 0xff) throw toolError('media_invalid', `${name} is cut off`);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const filename = name?.split('/').at(-1) ?? null;
    const record = { mime_type: 'image/png', byte_length: bytes.length, sha256, filename };
    return { kind: 'image', record, bytes, place: 'tool_result' };
  };
  return { admit, asked };
}

async function setup(media: MediaGate | null = pngGate()) {
  const folder = await scratchFolder();
  const { path } = folder;
  const tool = createReadTool({ artifacts: null, home: path, media });
  const file = (name: string, content: string | Uint8Array) => writeFile(join(path, name), content);
  const read = (args: object) => callTool(tool, args, { ...contextIn(path), model: MODEL });
  return { path, tool, file, read, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe('read of media', () => {
  it('attaches the whole file by its content, whatever its name and the page asked for [FS-12] [MED-1]', async () => {
    const gate = pngGate();
    await using s = await setup(gate);
    await s.file('notes.txt', PICTURE);
    const result = await s.read({ filePath: 'notes.txt', offset: 5, limit: 1 });
    const sha256 = createHash('sha256').update(PICTURE).digest('hex');
    const record = { mime_type: 'image/png', byte_length: 1234, sha256, filename: 'notes.txt' };
    expect(textOf(result)).toBe('Attached image/png (1,234 bytes).');
    expect(result.metadata).toEqual({ kind: 'attachment', ...record });
    expect(result.attachments).toEqual([{ record, bytes: PICTURE }]);
    expect(gate.asked).toMatchObject([{ name: join(s.path, 'notes.txt'), model: MODEL }]);
  });

  it('gives text under a name of media as text [FS-12] [MED-1]', async () => {
    await using s = await setup();
    await s.file('shot.png', 'a poem\n');
    const result = await s.read({ filePath: 'shot.png' });
    expect(textOf(result)).toContain('1: a poem');
    expect(result).not.toHaveProperty('attachments');
  });

  it('fails with what the gate says [MED-2] [MED-3] [ERR-1]', async () => {
    await using s = await setup();
    await s.file('cut.png', Buffer.concat([PICTURE, Buffer.from([0xff])]));
    await expect(s.read({ filePath: 'cut.png' })).rejects.toMatchObject({
      code: 'media_invalid',
      message: `${join(s.path, 'cut.png')} is cut off`,
    });
  });

  it('attaches only the file that was prepared [FS-6]', async () => {
    await using s = await setup();
    await s.file('a.png', PICTURE);
    await s.file('b.png', Buffer.concat([PICTURE, PICTURE]));
    const call = await prepareCall(s.tool, { filePath: 'a.png' }, contextIn(s.path));
    await rename(join(s.path, 'b.png'), join(s.path, 'a.png'));
    await expect(finishCall(call)).rejects.toMatchObject({ code: 'stale' });
  });

  it('asks about files alone, and looks at nothing before it is executed [FS-3] [FS-12]', async () => {
    const gate = pngGate();
    await using s = await setup(gate);
    await s.file('a.png', PICTURE);
    await symlink('.', join(s.path, 'loop'));
    await s.read({ filePath: '.' });
    await prepareCall(s.tool, { filePath: 'loop/a.png' }, contextIn(s.path));
    expect(gate.asked).toEqual([]);
  });

  it('says in its description that media is attached only where it is [FS-12]', async () => {
    await using withGate = await setup();
    await using without = await setup(null);
    expect(withGate.tool.spec.description).toContain('An image, a PDF, a sound or a film is attached whole');
    expect(without.tool.spec.description).not.toContain('attached');
    await without.file('a.png', PICTURE);
    await expect(without.read({ filePath: 'a.png' })).rejects.toMatchObject({ code: 'not_supported' });
  });
});
