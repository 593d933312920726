import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  systemClock,
  toolError,
  type Attachment,
  type BlobReader,
  type MediaPlacer,
  type ModelMessage,
  type PlacedPart,
} from '@agentd/contract';
import { createModelGateway } from '../gateway.ts';
import { httpError } from '../testing/canned-reply.ts';
import { collect, failureOf, request, useModelServer } from '../testing/bench.ts';
import { call, result, user } from '../testing/stored.ts';
import { WIRES, type WireAdaptor } from '../testing/wires.ts';

const { server, body } = useModelServer({ beforeEach, afterEach });

const fileOf = (digit: string): Attachment => ({
  mime_type: 'image/png',
  byte_length: 3,
  sha256: digit.repeat(64),
  filename: `${digit}.png`,
  reference: { uri: `artifact://sha256/${digit.repeat(64)}` },
});

/** Everything goes into its result, what is withheld as a note; at most `room` files, the newest. */
const inResults = (room = Infinity): MediaPlacer => ({
  place: (messages, _model, { withheld = new Map() } = {}) => {
    let left = room;
    return messages
      .toReversed()
      .map((message) => {
        if (message.role !== 'tool') return message;
        const content = message.content.map(({ attachments = [], ...rest }) => {
          const media = attachments.map((attachment): PlacedPart => {
            const reason = withheld.get(attachment.sha256) ?? (left-- > 0 ? undefined : 'full');
            if (reason !== undefined) return { type: 'text', text: `[${attachment.filename}: ${reason}]` };
            return { type: 'file', attachment, filename: `name-${attachment.filename}` };
          });
          return { ...rest, media };
        });
        return { role: 'tool' as const, content };
      })
      .toReversed();
  },
});

/** Blobs by digit; one whose content is a code fails with it. */
function blobsOf(contents: Readonly<Record<string, string>>) {
  const read: string[] = [];
  const blobs: BlobReader = {
    blob: async (sha256) => {
      const digit = sha256[0] ?? '';
      read.push(digit);
      const content = contents[digit] ?? 'EIO';
      if (content.startsWith('artifact_')) throw toolError(content as 'artifact_missing', content);
      if (content === 'EIO') throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return Buffer.from(content);
    },
  };
  return { blobs, read };
}

const history = (...files: readonly (readonly Attachment[])[]): readonly ModelMessage[] => [
  user('Look'),
  { role: 'assistant', model: 'local/test-model', content: files.map((_file, index) => call(`c${index}`)) },
  {
    role: 'tool',
    content: files.map((attachments, index) => ({
      ...result(`c${index}`, `said ${index}`, index === 1),
      ...(attachments.length === 0 ? {} : { attachments }),
    })),
  },
];

interface Ask {
  readonly adaptor?: WireAdaptor;
  readonly media?: { readonly placer: MediaPlacer; readonly blobs: BlobReader };
}

function clientOf({ adaptor = 'anthropic', media }: Ask) {
  server().reply(WIRES[adaptor].turn({ text: 'ok' }));
  return createModelGateway({
    providers: { local: { adaptor, baseUrl: `${server().url}/v1`, ...WIRES[adaptor].settings } },
    environment: {},
    clock: systemClock,
    ...(media === undefined ? {} : { media }),
  }).open('local/test-model');
}

const sent = async (messages: readonly ModelMessage[], ask: Ask) => {
  await collect(await clientOf(ask), request({ messages }));
  return JSON.stringify(body());
};

describe('files of a history', () => {
  it('are fetched once in a request and sent as base64, behind what the result says [MED-5]', async () => {
    const { blobs, read } = blobsOf({ a: 'AAA', b: 'BBB' });
    const media = { placer: inResults(), blobs };
    await sent(history([fileOf('a'), fileOf('b')], [fileOf('a')]), { media });
    expect(read).toEqual(['a', 'b']);
    const { messages } = body() as { messages?: { content: { content: { type: string }[] }[] }[] };
    const [first, second] = messages?.[2]?.content ?? [];
    const source = (text: string) => ({
      type: 'base64',
      media_type: 'image/png',
      data: Buffer.from(text).toString('base64'),
    });
    expect(first?.content).toMatchObject([
      { type: 'text', text: 'said 0' },
      { type: 'image', source: source('AAA') },
      { type: 'image', source: source('BBB') },
    ]);
    expect(second?.content).toMatchObject([
      { type: 'text', text: 'said 1' },
      { type: 'image', source: source('AAA') },
    ]);
  });

  it.each([
    ['artifact_missing', 'its content was removed from the store'],
    ['artifact_corrupt', 'its stored content is damaged'],
    ['EIO', 'its stored content cannot be read'],
  ])(
    'whose content fails with %s become notes, and older ones take their room [MED-5] [MED-6]',
    async (...[fault, reason]) => {
      const { blobs } = blobsOf({ a: 'AAA', b: fault });
      const messages = [...history([fileOf('a')]), ...history([fileOf('b')]).slice(1)];
      const text = await sent(messages, { media: { placer: inResults(1), blobs } });
      expect(text).toContain(`[b.png: ${reason}]`);
      expect(text).toContain(Buffer.from('AAA').toString('base64'));
      expect(text).not.toContain('full');
    },
  );

  it('leave a failed result its mark where no file goes with it [MED-5]', async () => {
    const { blobs } = blobsOf({});
    await sent(history([], [fileOf('c')]), { media: { placer: inResults(), blobs } });
    const { messages } = body() as { messages?: { content: object[] }[] };
    expect(messages?.[2]?.content[1]).toMatchObject({
      type: 'tool_result',
      is_error: true,
      content: 'said 1\n[c.png: its stored content cannot be read]',
    });
  });

  it.each<WireAdaptor>(['openai-chat', 'openai-compatible', 'google-gemini', 'cohere-v2-chat'])(
    'leave results on %s the text they are, with their notes [MED-5]',
    async (adaptor) => {
      const { blobs } = blobsOf({});
      const text = await sent(history([fileOf('c')]), { adaptor, media: { placer: inResults(), blobs } });
      expect(text).toContain(String.raw`said 0\n[c.png: its stored content cannot be read]`);
      expect(text).not.toContain(String.raw`\"type\":`);
    },
  );

  it('are named and not sent where the gateway has no media ports', async () => {
    const text = await sent(history([fileOf('a')]), {});
    expect(text).toContain(String.raw`said 0\n[\"a.png\" (image/png, 3 bytes) is not sent]`);
  });

  it('that a provider refuses go as notes from then on; what it had taken stays', async () => {
    const { blobs } = blobsOf({ a: 'AAA', b: 'BBB' });
    const client = await clientOf({ media: { placer: inResults(), blobs } });
    const old = history([fileOf('a')]);
    await collect(client, request({ messages: old }));
    const messages = [...old, ...history([fileOf('b')]).slice(1)];
    const message = 'messages.4.content.0: Could not process image';
    server().reply(
      httpError(400, { error: { type: 'invalid_request_error', message } }),
      WIRES.anthropic.turn({ text: 'ok' }),
    );
    const { error } = await failureOf(client, request({ messages }));
    expect(error).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      details: { status: 400 },
      message: expect.stringMatching(
        /Could not process image; what it had not taken before is named and not sent/,
      ),
    });
    await collect(client, request({ messages }));
    const healed = JSON.stringify(body(2));
    expect(healed).toContain('[b.png: the provider refused a request with it]');
    expect(healed).toContain(Buffer.from('AAA').toString('base64'));
    expect(healed).not.toContain(Buffer.from('BBB').toString('base64'));
  });

  it('that were taken before go as well where they are refused all the same', async () => {
    const { blobs } = blobsOf({ a: 'AAA' });
    const client = await clientOf({ media: { placer: inResults(), blobs } });
    const messages = history([fileOf('a')]);
    await collect(client, request({ messages }));
    server().reply(
      httpError(422, { error: { message: 'too many images' } }),
      WIRES.anthropic.turn({ text: 'ok' }),
    );
    await failureOf(client, request({ messages }));
    await collect(client, request({ messages }));
    expect(JSON.stringify(body(2))).toContain('[a.png: the provider refused a request with it]');
  });

  it('that another process saw refused go as notes, and are not even fetched [field A16]', async () => {
    const { blobs, read } = blobsOf({ a: 'AAA', b: 'BBB' });
    const client = await clientOf({ media: { placer: inResults(), blobs } });
    const messages = [...history([fileOf('a')]), ...history([fileOf('b')]).slice(1)];
    await collect(client, request({ messages, refusedFiles: ['b'.repeat(64)] }));
    expect(JSON.stringify(body())).toContain('[b.png: the provider refused a request with it]');
    expect(read).toEqual(['a']);
  });

  it('that another process saw taken stay where a new one is refused, and the error names the new one', async () => {
    const { blobs } = blobsOf({ a: 'AAA', b: 'BBB', c: 'CCC' });
    const client = await clientOf({ media: { placer: inResults(), blobs } });
    const own = { role: 'assistant' as const, model: 'local/test-model', content: [] };
    const other = { ...own, model: 'other/model' };
    const old = [...history([fileOf('a')]), own, user('And?')];
    const messages = [
      ...old,
      ...history([fileOf('b')]).slice(1),
      other,
      user('Now you'),
      ...history([fileOf('c')]).slice(1),
    ];
    const refusal = httpError(400, { error: { message: 'Could not process image' } });
    // Without the answer that the client was made with.
    await collect(client, request());
    server().reply(refusal, WIRES.anthropic.turn({ text: 'ok' }));
    const { error } = await failureOf(client, request({ messages: messages.slice(0, -2) }));
    expect(error).toMatchObject({ details: { refusedFiles: ['b'.repeat(64)], status: 400 } });
    await collect(client, request({ messages }));
    expect(JSON.stringify(body(2))).toContain(Buffer.from('AAA').toString('base64'));
  });

  it.each([
    ['says nothing of files', 400, 'tools.0.name: too long'],
    ['only sounds like it', 400, 'see the documentation of your profile'],
    ['is no refusal of the content', 401, 'no access to images'],
  ])('stay where a refusal %s', async (_what, status, message) => {
    const { blobs } = blobsOf({ a: 'AAA' });
    server().reply(httpError(status, { error: { message } }));
    const client = await clientOf({ media: { placer: inResults(), blobs } });
    const messages = history([fileOf('a')]);
    const { error } = await failureOf(client, request({ messages }));
    expect((error as { code: string }).code).not.toBe('MODEL_UNAVAILABLE');
    await collect(client, request({ messages }));
    expect(JSON.stringify(body(1))).toContain(Buffer.from('AAA').toString('base64'));
  });

  it('that are being fetched when the signal aborts end the attempt with its reason', async () => {
    const stop = new AbortController();
    const blobs: BlobReader = {
      blob: async () => {
        stop.abort(new Error('enough'));
        throw new Error('broken off');
      },
    };
    const client = await clientOf({ media: { placer: inResults(), blobs } });
    const { error } = await failureOf(client, request({ messages: history([fileOf('a')]) }), stop.signal);
    expect(error).toMatchObject({ message: 'enough' });
    expect(server().requests).toHaveLength(0);
  });
});
