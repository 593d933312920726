import { describe, expect, it } from '@jest/globals';
import type { Attachment, CallReport } from '@agentd/contract';
import type { Session } from '@agentd/engine';
import { servedCalls } from './served-calls.ts';
import { SessionPool } from './session-pool.ts';

const attachment = (name: string, byte_length: number): Attachment => ({
  mime_type: 'image/png',
  byte_length,
  sha256: name,
  filename: `${name}.png`,
  reference: { uri: `artifact://sha256/${name}` },
});

/** Serves calls that all end with this report. */
function setup(report: Partial<CallReport>) {
  const whole = {
    outcome: 'completed',
    text: 'Attached.',
    metadata: {},
    attachments: [],
    error: null,
    ...report,
  };
  const session = { callTool: async () => whole } as unknown as Session;
  const pool = new SessionPool({ open: async () => session, maxTogether: 1, maxWaiting: 0, maxCalls: 9 });
  const call = servedCalls({
    pool,
    agent: 'default',
    workspace: '/ws',
    blobs: { blob: async (sha256) => Buffer.from(sha256) },
    maxFileBytes: 10,
  });
  const extra = { signal: new AbortController().signal, requestId: 1, sendNotification: async () => {} };
  return (args?: Record<string, unknown>) => call({ params: { name: 'read', arguments: args } }, extra);
}

describe('servedCalls', () => {
  it('sends the files that fit into a message, and says which one does not [MCP-8]', async () => {
    const call = setup({ attachments: [attachment('a', 4), attachment('b', 7), attachment('c', 1)] });
    expect((await call()).content).toEqual([
      {
        type: 'text',
        text:
          'Attached.\n[b.png (image/png) is not in this result: it has 7 bytes, and one message carries 10 at most. ' +
          'Make it smaller first.]',
      },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('a').toString('base64') },
      { type: 'image', mimeType: 'image/png', data: Buffer.from('c').toString('base64') },
    ]);
  });

  it('marks every end but completion, the error after the output [MCP-8] [ERR-2]', async () => {
    const call = setup({
      outcome: 'cancelled',
      text: 'half',
      error: { code: 'cancelled', message: 'enough' },
    });
    const content = [{ type: 'text', text: 'half\nerror: cancelled: enough' }];
    expect(await call()).toEqual({ content, isError: true });
  });

  it('answers what the engine cannot take, too [MCP-8]', async () => {
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    expect(await setup({})(loop)).toMatchObject({ isError: true });
  });
});
