import {
  systemClock,
  type JsonObject,
  type ModelClient,
  type ModelRequest,
  type ModelStreamPart,
} from '@agentd/contract';
import { createModelGateway } from '../gateway.ts';
import { startModelServer, type ModelServer } from './model-server.ts';
import { WIRES, type WireAdaptor } from './wires.ts';

export { KEY } from './wires.ts';

/** A request with nothing but what a test names. */
export function request(fields: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'Be brief.',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    tools: [],
    session: { id: 's1', agent: 'default', turns: [] },
    ...fields,
  };
}

/** All parts of a stream; the model error or abort reason is thrown as it comes. */
export async function collect(
  client: ModelClient,
  asked = request(),
  signal: AbortSignal = never(),
): Promise<ModelStreamPart[]> {
  const parts: ModelStreamPart[] = [];
  for await (const part of client.stream(asked, signal)) parts.push(part);
  return parts;
}

export interface Failure {
  readonly error: unknown;
  /** What was streamed before. */
  readonly parts: readonly ModelStreamPart[];
}

/** What a stream throws, after the parts before it. */
export async function failureOf(
  client: ModelClient,
  asked = request(),
  signal: AbortSignal = never(),
): Promise<Failure> {
  const parts: ModelStreamPart[] = [];
  try {
    for await (const part of client.stream(asked, signal)) parts.push(part);
  } catch (error) {
    return { error, parts };
  }
  throw new Error('the stream did not fail');
}

export function textOf(
  parts: readonly ModelStreamPart[],
  type: 'text-delta' | 'reasoning-delta' = 'text-delta',
) {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}

export function callsOf(parts: readonly ModelStreamPart[]) {
  return parts.filter((part) => part.type === 'tool-call');
}

interface Hooks {
  readonly beforeEach: (run: () => Promise<void>) => void;
  readonly afterEach: (run: () => Promise<void>) => void;
}

/** A model server for each test, and clients of every wire that talk to it. */
export function useModelServer({ beforeEach, afterEach }: Hooks) {
  const held: { server?: ModelServer } = {};
  beforeEach(async () => {
    held.server = await startModelServer();
  });
  afterEach(async () => {
    await held.server?.close();
  });
  const server = (): ModelServer => {
    if (held.server === undefined) throw new Error('the server runs inside tests only');
    return held.server;
  };
  const open = (adaptor: WireAdaptor, model = WIRES[adaptor].model): Promise<ModelClient> =>
    createModelGateway({
      providers: { local: { adaptor, baseUrl: `${server().url}/v1`, ...WIRES[adaptor].settings } },
      environment: {},
      clock: systemClock,
    }).open(`local/${model}`);
  const body = (index = 0): JsonObject => server().requests[index]?.body as JsonObject;
  return { server, open, body };
}

function never(): AbortSignal {
  return new AbortController().signal;
}
