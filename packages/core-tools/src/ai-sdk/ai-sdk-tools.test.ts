import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asSchema, type ToolSet } from '@ai-sdk/provider-utils';
import { defineTool, systemClock, type MediaGate, type Tool } from '@agentd/contract';
import { z } from 'zod';
import { createCoreTools } from '../create-core-tools.ts';
import { scratchFolder } from '../testing/calls.ts';
import { aiSdkTools, type AiSdkApproval, type AiSdkOptions } from './ai-sdk-tools.ts';

interface StepCall {
  readonly toolName: string;
  readonly input: unknown;
}

async function setup(options: Partial<AiSdkOptions> = {}) {
  const folder = await scratchFolder();
  const { path } = folder;
  const asked: AiSdkApproval[] = [];
  const ports = {
    artifacts: null,
    stages: null,
    home: path,
    environment: process.env,
    withheld: [],
    clock: systemClock,
  };
  const coreTools = createCoreTools(ports);
  const tools = aiSdkTools(coreTools, {
    cwd: path,
    approve: async (approval) => {
      asked.push(approval);
      return true;
    },
    ...options,
  });
  /** One step of a loop, as `generateText` runs it: all calls at once, errors become results. */
  const step = async (calls: readonly StepCall[], abortSignal?: AbortSignal) => {
    const messages = [{ role: 'user', content: 'go' }];
    const results = await Promise.allSettled(
      calls.map(async ({ toolName, input }, index) =>
        tools[toolName]?.execute(input, { toolCallId: `c${index}`, messages, abortSignal }),
      ),
    );
    return results.map((result) =>
      result.status === 'fulfilled' ? result.value : `failed: ${(result.reason as Error).message}`,
    );
  };
  return {
    path,
    asked,
    coreTools,
    tools,
    step,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Takes every file for a picture. */
const pictures: MediaGate = {
  admit: async ({ content, name }, signal) => {
    const bytes = 'read' in content ? await content.read(0, content.byteLength, signal) : content;
    const record = { mime_type: 'image/png', byte_length: bytes.length, sha256: '', filename: name };
    return { kind: 'image', record, bytes, place: null };
  },
};

const bash = (command: string): StepCall => ({ toolName: 'bash', input: { command } });

describe('aiSdkTools', () => {
  it('says of a file that it is not passed on: a loop takes one text of a call [FS-12]', async () => {
    await using s = await setup();
    const options = { cwd: s.path, approve: async () => true };
    const { read } = aiSdkTools(createCoreTools({ media: pictures }), options);
    await writeFile(join(s.path, 'a.png'), 'x');
    const said = await read?.execute({ filePath: 'a.png' }, { toolCallId: 'c' });
    expect(said).toBe(`Attached image/png (1 bytes).\n[${join(s.path, 'a.png')} is not passed on to you]`);
  });

  it('are tools as the AI SDK takes them, with the same schemas', async () => {
    await using s = await setup();
    const set: ToolSet = { ...s.tools };
    expect(Object.keys(set)).toEqual(s.coreTools.map(({ spec }) => spec.name));
    for (const { spec } of s.coreTools) {
      expect(asSchema(s.tools[spec.name]?.inputSchema).jsonSchema).toEqual(spec.parameters);
      expect(set[spec.name]).toMatchObject({ description: spec.description });
    }
  });

  it('work through a loop: what a step did, the next one sees', async () => {
    await using s = await setup();
    expect(await s.step([{ toolName: 'write', input: { filePath: 'a/f', content: '1\n2\n3\n' } }])).toEqual([
      'Created a/f (6 bytes).',
    ]);
    const edit = (oldString: string, newString: string) => ({
      toolName: 'edit',
      input: { filePath: 'a/f', oldString, newString },
    });
    expect(await s.step([edit('1', 'one'), edit('3', 'three'), edit('2', 'two')])).toEqual([
      'Edited a/f (line 1).',
      'Edited a/f (line 3).',
      'Edited a/f (line 2).',
    ]);
    const [page] = await s.step([{ toolName: 'read', input: { filePath: 'a/f', limit: 2 } }]);
    expect(page).toBe(
      `<path>${join(s.path, 'a/f')}</path>\n<type>file</type>\n<content>\n1: one\n2: two\n</content>\n[next_offset: 2]`,
    );
  });

  it('join what a command streams, with its exit code last [BASH-5] [OUT-6]', async () => {
    await using s = await setup();
    expect(await s.step([bash('echo out; echo err >&2; exit 3'), bash('true'), bash('kill -9 $$')])).toEqual([
      '[stdout]\nout\n\n[stderr]\nerr\nexit code: 3',
      '[stdout]\n\n[stderr]\nexit code: 0',
      '[stdout]\n\n[stderr]\nsignal: SIGKILL\nerror: signal: the command was ended by SIGKILL',
    ]);
  });

  it('keep head and tail of what is too long, in bounded memory', async () => {
    await using s = await setup({ maxStreamLength: 20 });
    const [text] = await s.step([bash('seq 1 200000')]);
    expect(text).toBe(
      '[stdout]\n1\n2\n3\n4\n5\n\n[… 1288875 characters omitted]\n99\n200000\n\n[stderr]\nexit code: 0',
    );
  });

  it('ask before every effect, with what is approved, and do nothing once refused', async () => {
    await using s = await setup();
    await writeFile(join(s.path, 'f'), 'old');
    await s.step([{ toolName: 'write', input: { filePath: './f', content: 'new' } }, bash('touch made')]);
    // Which of the two is prepared first is nobody's promise.
    expect(s.asked.toSorted((a, b) => a.toolCallId.localeCompare(b.toolCallId))).toMatchObject([
      { tool: 'write', toolCallId: 'c0', action: 'write', label: 'f', operation: { bytes: 3 } },
      { tool: 'bash', toolCallId: 'c1', action: 'bash', label: 'touch made' },
    ]);
    await using denied = await setup({ approve: async () => false });
    const input = { filePath: 'f', content: 'new' };
    expect(await denied.step([{ toolName: 'write', input }])).toEqual(['failed: write of f was refused']);
    await expect(readFile(join(denied.path, 'f'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('prepare the calls of a step before the first has an effect [SCH-5]', async () => {
    await using s = await setup();
    await writeFile(join(s.path, 'f'), 'old');
    const results = await s.step([
      { toolName: 'write', input: { filePath: 'f', content: 'new' } },
      { toolName: 'edit', input: { filePath: 'f', oldString: 'new', newString: 'newer' } },
    ]);
    expect(results).toEqual([
      'Replaced f (3 bytes).',
      expect.stringMatching(/^failed: .*(stale|changed|0 times)/),
    ]);
    expect(await readFile(join(s.path, 'f'), 'utf8')).toBe('new');
  });

  it('tell a model how to repair a call, and stop when the loop is aborted', async () => {
    await using s = await setup();
    const [problem] = await s.step([{ toolName: 'read', input: { path: 'f' } }]);
    expect(problem).toMatch(/^failed: .*filePath/s);
    const abort = new AbortController();
    const running = s.step([bash('sleep 100')], abort.signal);
    setTimeout(() => abort.abort(), 100);
    expect(await running).toEqual([expect.stringContaining('cancelled')]);
  });

  it('refuse what no such loop can keep: a relative folder, a tool that must run alone', async () => {
    await using s = await setup();
    const approve = async (): Promise<boolean> => true;
    expect(() => aiSdkTools(s.coreTools, { cwd: 'here', approve })).toThrow(/must be absolute, not "here"/);
    const alone: Tool = defineTool({
      name: 'alone',
      description: 'd',
      schema: z.strictObject({}),
      action: 'plugin',
      prepare: async () => {
        throw new Error('not reached');
      },
    });
    expect(() => aiSdkTools([alone], { cwd: s.path, approve })).toThrow(/alone must run alone/);
  });
});
