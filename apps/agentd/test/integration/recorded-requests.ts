import { createHash } from 'node:crypto';
import { systemClock, type AssistantPart, type Attachment, type ModelMessage } from '@agentd/contract';
import { mediaPlacer } from '@agentd/media-delivery';
import { isoSample, pdfSample, pngSample, wavSample } from '@agentd/media-delivery/testing';
import { createModelGateway, type AdaptorId } from '@agentd/model-gateway';
import { startModelServer, type ModelServer } from '@agentd/model-gateway/testing';
import { WIRE_ROWS, type WireRow } from '../e2e/media-wires.ts';

/** A body as a server on loopback saw it. */
export interface RecordedBody {
  readonly adaptor: string;
  /** Model and step. */
  readonly about: string;
  readonly body: object;
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const BLOBS = new Map<string, Uint8Array>();
const FILES = [
  ['image/png', pngSample()] as const,
  ['application/pdf', pdfSample()] as const,
  ['video/mp4', isoSample()] as const,
  ['audio/wav', wavSample()] as const,
].map(([mime_type, bytes]): Attachment => {
  const sha256 = digestOf(bytes);
  BLOBS.set(sha256, bytes);
  const uri = `artifact://sha256/${sha256}`;
  return { mime_type, byte_length: bytes.length, sha256, filename: 'a file', reference: { uri } };
});

const TOOL = {
  name: 'read',
  description: 'Reads a file.',
  parameters: { type: 'object', properties: { filePath: { type: 'string' } }, required: ['filePath'] },
} as const;

/** One call for each file, and one that fails. */
const CALLS = [0, 1, 2, 3, 4].map((index) => ({
  id: `call_${index}`,
  name: 'read',
  args: { filePath: `${index}` },
}));

const RESULTS: ModelMessage = {
  role: 'tool',
  content: CALLS.map(({ id }, index) => {
    const file = FILES[index];
    return {
      type: 'tool_result',
      provider_call_id: id,
      tool: 'read',
      text: file === undefined ? 'not_found: no such file' : 'Attached.',
      is_error: file === undefined,
      ...(file === undefined ? {} : { attachments: [file] }),
    };
  }),
};

/** What each wire calls a thought, with what must go back with it. */
const THOUGHTS: Readonly<Partial<Record<string, object>>> = {
  anthropic: { thinking: { text: 'Hm.', signature: 'c2ln' }, redacted: 'c2VjcmV0' },
  'anthropic-compatible': { thinking: { text: 'Hm.', signature: 'c2ln' } },
  'aws-bedrock-converse': { reasoning: { text: 'Hm.', signature: 'c2ln' } },
  'openai-responses': { reasoning: { id: 'rs_1', encrypted: 'c2VjcmV0', summary: 'Hm.' } },
  'azure-openai-responses': { reasoning: { id: 'rs_1', encrypted: 'c2VjcmV0', summary: 'Hm.' } },
  'openai-compatible': { reasoning: 'Hm.' },
};

/** Bodies of every wire: a question, then results with every kind of file and a thought, then a request without tools. */
export async function recordBodies(): Promise<readonly RecordedBody[]> {
  await using server = await startModelServer();
  const bodies: RecordedBody[] = [];
  for (const row of WIRE_ROWS) bodies.push(...(await conversationOver(row, server)));
  return bodies;
}

async function conversationOver(row: WireRow, server: ModelServer): Promise<readonly RecordedBody[]> {
  const client = await clientOf(row, server);
  const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'Look.' }] }];
  const bodies: RecordedBody[] = [];
  const ask = async (about: string, tools: readonly (typeof TOOL)[] = [TOOL]): Promise<void> => {
    const asked = { system: 'Be brief.', messages, tools, session: { id: 's', agent: 'a', turns: [] } };
    const content: AssistantPart[] = [];
    for await (const part of client.stream(asked, new AbortController().signal)) add(content, part);
    messages.push({ role: 'assistant', model: client.info.id, content });
    const body = server.requests.at(-1)?.body as object;
    bodies.push({ adaptor: row.adaptor, about: `${row.model}, ${about}`, body });
  };
  server.reply(row.turn({ text: 'I read.', calls: CALLS, ...THOUGHTS[row.adaptor] }));
  await ask('a question');
  messages.push(RESULTS);
  server.reply(row.turn({ text: 'Seen.' }));
  await ask('results with files');
  messages.push({
    role: 'user',
    content: [{ type: 'text', text: 'And again.' }],
    attachments: FILES.slice(0, 2),
  });
  server.reply(row.turn({ text: 'Done.' }));
  await ask('files of the user, and no tools', []);
  return bodies;
}

type Part =
  ReturnType<Awaited<ReturnType<typeof clientOf>>['stream']> extends AsyncIterable<infer One> ? One : never;

const ids = new WeakMap<AssistantPart, string>();

/** Stores a streamed part as the engine does. */
function add(content: AssistantPart[], part: Part): void {
  if (part.type === 'finish') return;
  const data = part.providerData === undefined ? {} : { provider_data: part.providerData };
  if (part.type === 'tool-call') {
    const call = { provider_call_id: part.providerCallId, tool: part.tool, input: JSON.parse(part.input) };
    content.push({ type: 'tool_call', ...call, ...data });
    return;
  }
  const at = content.findIndex((one) => ids.get(one) === part.id);
  const before = content[at];
  const text = before === undefined || before.type === 'tool_call' ? part.text : before.text + part.text;
  const type = part.type === 'text-delta' ? 'text' : 'reasoning';
  const next: AssistantPart = { ...before, type, text, ...data };
  ids.set(next, part.id);
  content.splice(at === -1 ? content.length : at, at === -1 ? 0 : 1, next);
}

function clientOf({ adaptor, model, key = 'api_key' }: WireRow, { url }: ModelServer) {
  const credential = key === 'api_key' ? { apiKey: 'k' } : { accessToken: 'k' };
  const input = ['text', 'image', 'pdf', 'video', 'audio'] as const;
  const models = { [model]: { input, outputTokens: 4096 } };
  const lab = { adaptor: adaptor as AdaptorId, baseUrl: `${url}/v1`, ...credential, models };
  const blobs = { blob: async (sha256: string) => BLOBS.get(sha256) ?? new Uint8Array() };
  const media = { placer: mediaPlacer, blobs };
  return createModelGateway({ providers: { lab }, environment: {}, clock: systemClock, media }).open(
    `lab/${model}`,
  );
}
