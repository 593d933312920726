import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { toolError, type AttachedFile, type ToolCompletion } from '@agentd/contract';
import { memoryOutputStore } from '@agentd/contract/testing';
import { callOf, fakeTool, said, turnFixture, type TurnInit } from './testing/turn-fixture.ts';

const fileOf = (text: string, filename: string | null = `${text}.png`): AttachedFile => ({
  record: { mime_type: 'image/png', filename },
  bytes: Buffer.from(text),
});
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const storedOf = (text: string) => ({
  mime_type: 'image/png',
  byte_length: text.length,
  sha256: digestOf(text),
  filename: `${text}.png`,
  reference: { uri: `artifact://sha256/${digestOf(text)}` },
});

async function runOne(completion: Partial<ToolCompletion>, init: TurnInit = {}) {
  const tool = fakeTool({ execute: async () => ({ ...said('seen'), ...completion }) });
  const fixture = turnFixture([tool], init);
  const { reports } = await fixture.run([callOf('tool')]);
  return { ...fixture, report: reports[0]! };
}

/** Two files of any size. */
const twoFiles: NonNullable<TurnInit['attachments']> = {
  fit: (files) => ({ kept: files.slice(0, 2), left: files.slice(2) }),
  note: ({ filename, byte_length }) => `[${filename} (${byte_length}) left out]`,
};

describe('attachments of a completion', () => {
  it('are stored by their content and recorded in order, and stand in no text [FS-12] [ART-16]', async () => {
    const { report, log, store } = await runOne({ attachments: [fileOf('one'), fileOf('two')] });
    expect(report).toMatchObject({ outcome: 'completed', text: 'seen', error: null });
    expect(report.attachments).toEqual([storedOf('one'), storedOf('two')]);
    expect(log.of('tool_call_terminated')[0]!.result!.attachments).toEqual(report.attachments);
    expect(store.files.get(digestOf('two'))).toEqual(new Uint8Array(Buffer.from('two')));
    expect(JSON.stringify(log.payloads)).not.toContain(Buffer.from('one').toString('base64'));
  });

  it('are guarded until the event that refers to them is on disk, and no longer [ART-10] [ART-16]', async () => {
    const store = memoryOutputStore();
    const guarded: number[] = [];
    const { report } = await runOne(
      { attachments: [fileOf('one')] },
      { outputs: store, beforeSync: async () => void guarded.push(store.unreleased()) },
    );
    expect(report.outcome).toBe('completed');
    // Before anything ran; with the terminal event, for the output and for the file.
    expect(guarded).toEqual([0, 2]);
    expect(store.unreleased()).toBe(0);
  });

  it('over the budget are left out with a line each, and the call completes [MED-10]', async () => {
    const attachments = ['a', 'b', 'c'].map((text) => fileOf(text));
    const { report, store } = await runOne({ attachments }, { attachments: twoFiles });
    expect(report).toMatchObject({ outcome: 'completed', text: 'seen\n\n[c.png (1) left out]' });
    expect(report.attachments).toEqual([storedOf('a'), storedOf('b')]);
    expect(store.files.size).toBe(2);
  });

  it('stay with a call that failed [FS-12]', async () => {
    const error = { code: 'mcp_error', message: 'half of it' } as const;
    const { report } = await runOne({ attachments: [fileOf('one')], error });
    expect(report).toMatchObject({ outcome: 'failed', error, attachments: [storedOf('one')] });
  });

  it('that cannot be stored fail the call with the reason; its text stays [OUT-13] [SCH-9]', async () => {
    const full = { ...memoryOutputStore(), keep: () => Promise.reject(new Error('ENOSPC: disk full')) };
    const { report, log } = await runOne({ attachments: [fileOf('one')] }, { outputs: full });
    expect(report).toMatchObject({ outcome: 'failed', text: 'seen', attachments: [] });
    expect(report.error).toMatchObject({
      code: 'execution_failed',
      message: 'the attachments could not be stored: ENOSPC: disk full; try again later',
    });
    expect(log.isSynced()).toBe(true);
  });

  it.each([
    ['no bytes', [{ record: { mime_type: 'image/png', filename: null }, bytes: 'text' }]],
    ['no record', [{ bytes: Buffer.from('x') }]],
    ['an endless name', [fileOf('x', 'n'.repeat(256))]],
  ])('with %s end the call and not the run [SCH-9]', async (_what, attachments) => {
    const { report } = await runOne({ attachments: attachments as never });
    expect(report).toMatchObject({
      outcome: 'failed',
      error: { code: 'execution_failed', message: expect.stringContaining('no completion') },
    });
  });

  it('are not asked for where the tool throws [ERR-1]', async () => {
    const tool = fakeTool({ execute: () => Promise.reject(toolError('media_invalid', 'cut off')) });
    const { run, store } = turnFixture([tool]);
    const { reports } = await run([callOf('tool')]);
    expect(reports[0]).toMatchObject({
      outcome: 'failed',
      attachments: [],
      error: { code: 'media_invalid', message: 'cut off' },
    });
    expect(store.files.size).toBe(0);
  });
});
