import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { isoSample, pdfSample, pngSample, wavSample } from '@agentd/media-delivery/testing';
import { httpError, startModelServer, type ModelServer } from '@agentd/model-gateway/testing';
import { runAgentd, type Ended } from './agentd-process.ts';
import { placesOf, WIRE_ROWS, type Kind, type WireRow } from './media-wires.ts';

/** By kind, in the order of the calls; the names lie, and nothing must go by them. */
const FILES: Readonly<Record<Kind, { readonly name: string; readonly bytes: Uint8Array }>> = {
  image: { name: 'shot.txt', bytes: pngSample() },
  pdf: { name: 'paper.png', bytes: pdfSample({ pages: 2 }) },
  video: { name: 'clip.pdf', bytes: isoSample() },
  audio: { name: 'sound.mp4', bytes: wavSample() },
};
const KINDS = Object.keys(FILES) as readonly Kind[];
const base64Of = (kind: Kind): string => Buffer.from(FILES[kind].bytes).toString('base64');
const READS = KINDS.map((kind, index) => ({
  id: `call_${index}`,
  name: 'read',
  args: { filePath: FILES[kind].name, offset: 7, limit: 1 },
}));

let server: ModelServer;
let folder: string;

beforeEach(async () => {
  server = await startModelServer();
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agentd-media-')));
  await mkdir(join(folder, 'ws'));
  for (const { name, bytes } of Object.values(FILES)) await writeFile(join(folder, 'ws', name), bytes);
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

interface Asked {
  readonly input?: readonly string[];
  readonly media?: string;
  readonly flags?: readonly string[];
}

async function run(row: WireRow, { input = ['text', ...KINDS], media = '', flags = [] }: Asked = {}) {
  const { adaptor, model, key = 'api_key' } = row;
  const settings = [
    `[providers.lab]\nadaptor = "${adaptor}"\nbase_url = "${server.url}/v1"\n${key} = "k"`,
    `[providers.lab.models."${model}"]\ninput = ${JSON.stringify(input)}\n${media}`,
  ];
  await writeFile(join(folder, 'config.toml'), settings.join('\n'));
  const args = ['run', 'Look.', '--output', 'json', '-m', `lab/${model}`];
  return runAgentd([...args, '--config', join(folder, 'config.toml'), ...flags], {
    home: join(folder, 'home'),
    cwd: join(folder, 'ws'),
  });
}

interface Line {
  readonly type: string;
  readonly session_id?: string;
  readonly event?: { readonly payload: Readonly<Record<string, unknown>> };
}

const linesOf = ({ stdout }: Ended): readonly Line[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

interface Terminal {
  readonly tool_call_id: string;
  readonly outcome: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly result: {
    readonly text: string;
    readonly metadata: object;
    readonly attachments: readonly { readonly filename: string; readonly sha256: string }[];
  } | null;
}

/** The terminal event of each read, by what it read. */
function endsByKind(ended: Ended): Readonly<Record<Kind, Terminal>> {
  const payloads = linesOf(ended).flatMap(({ event }) => (event === undefined ? [] : [event.payload]));
  const started = payloads.filter((one) => one['type'] === 'tool_call_started');
  const entries = KINDS.map((kind, index) => {
    const id = started[index]?.['tool_call_id'];
    const end = payloads.find((one) => one['type'] === 'tool_call_terminated' && one['tool_call_id'] === id);
    return [kind, end as unknown as Terminal] as const;
  });
  return Object.fromEntries(entries) as Record<Kind, Terminal>;
}

/** The messages of a request, without the marks that say how far to cache. */
function conversationOf(body: object): readonly unknown[] {
  const found = Object.entries(body).find(([name]) => /^(?:messages|input|contents)$/.test(name));
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter((part) => !Object.hasOwn(part, 'cachePoint')).map(plain);
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).filter(([name]) => name !== 'cache_control');
    return Object.fromEntries(entries.map(([name, child]) => [name, plain(child)]));
  };
  return plain(found?.[1]) as readonly unknown[];
}

const bodyOf = (index: number): object => server.requests[index]?.body as object;

/** One run with a call for each kind, then one of another process that goes on with the same session. */
async function lookAndReplay(row: WireRow): Promise<void> {
  const { turn, places, model, adaptor } = row;
  server.reply(turn({ calls: READS }), turn({ text: 'Seen.' }));
  const first = await run(row);
  expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
  const ends = endsByKind(first);
  for (const kind of KINDS) {
    expect([kind, placesOf(bodyOf(1), base64Of(kind))]).toEqual([
      kind,
      places[kind] === null ? [] : [places[kind]],
    ]);
    const isTaken = places[kind] !== null;
    expect(ends[kind]).toMatchObject({ outcome: isTaken ? 'completed' : 'failed' });
    if (isTaken) continue;
    expect(ends[kind].error).toMatchObject({
      code: 'media_undeliverable',
      message: expect.stringContaining(`${adaptor} of lab/${model}`),
    });
  }
  // Another process goes on with the same history: nothing of it may have become something else.
  server.reply(turn({ text: 'Still seen.' }));
  const session = linesOf(first).at(-1)?.session_id ?? '';
  const second = await run(row, { flags: ['--session', session] });
  expect(second.code).toBe(0);
  const before = conversationOf(bodyOf(1));
  expect(conversationOf(bodyOf(2)).slice(0, before.length)).toEqual(before);
}

const rowsOf = (clause: string): readonly WireRow[] => WIRE_ROWS.filter((row) => row.clause === clause);

describe('read puts each kind where the wire takes it, refuses the others by the family, and the next process replays it', () => {
  it.each(rowsOf('DEL-1'))('over $adaptor by $model [DEL-1]', lookAndReplay);
  it.each(rowsOf('DEL-2'))('over $adaptor by $model [DEL-2]', lookAndReplay);
  it.each(rowsOf('DEL-3'))('over $adaptor by $model [DEL-3]', lookAndReplay);
  it.each(rowsOf('DEL-4'))('over $adaptor by $model [DEL-4]', lookAndReplay);
  it.each(rowsOf('DEL-5'))('over $adaptor by $model [DEL-5]', lookAndReplay);
  it.each(rowsOf('DEL-6'))('over $adaptor by $model [DEL-6]', lookAndReplay);
  it.each(rowsOf('DEL-7'))('over $adaptor by $model [DEL-7] [field I16]', lookAndReplay);
  it.each(rowsOf('DEL-8'))('over $adaptor by $model [DEL-8] [MED-1] [MED-5] [FS-12]', lookAndReplay);
  it.each(rowsOf('DEL-9'))('over $adaptor by $model [DEL-9] [MED-3]', lookAndReplay);
});

const rowOf = (adaptor: string): WireRow => {
  const row = WIRE_ROWS.find((one) => one.adaptor === adaptor);
  if (row === undefined) throw new Error(`no row of ${adaptor}`);
  return row;
};
const readOf = (filePath: string, id = 'call_x') => ({ id, name: 'read', args: { filePath } });

/** A run with one turn of calls, and the terminal events of its reads in call order. */
async function readAll(row: WireRow, paths: readonly string[], asked: Asked = {}) {
  server.reply(
    row.turn({ calls: paths.map((path, index) => readOf(path, `call_${index}`)) }),
    row.turn({ text: 'Done.' }),
  );
  const ended = await run(row, asked);
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
  const payloads = linesOf(ended).flatMap(({ event }) => (event === undefined ? [] : [event.payload]));
  const started = payloads.filter((one) => one['type'] === 'tool_call_started');
  const ends = started.map(({ tool_call_id: id }) =>
    payloads.find((one) => one['type'] === 'tool_call_terminated' && one['tool_call_id'] === id),
  ) as unknown as readonly Terminal[];
  return { ends, session: linesOf(ended).at(-1)?.session_id ?? '' };
}

describe.each(['anthropic', 'openai-compatible'])('over %s', (adaptor) => {
  const row = rowOf(adaptor);

  it('a model that lacks the modality gets an error that names it, and no file is kept [MED-2] [FS-12]', async () => {
    const { ends } = await readAll(row, [FILES.image.name, FILES.audio.name], { input: ['text', 'pdf'] });
    expect(ends.map(({ error }) => error?.code)).toEqual(['media_unsupported', 'media_unsupported']);
    expect(ends[0]?.error?.message).toContain(`lab/${row.model} lacks the input capability "image"`);
    expect(JSON.stringify(bodyOf(1))).toContain('media_unsupported');
    expect(placesOf(bodyOf(1), base64Of('image'))).toEqual([]);
  });

  it('limits of the settings hold: bytes, pages, and the newest of a kind in one request [MED-4] [MED-6] [MED-11]', async () => {
    await writeFile(join(folder, 'ws', 'other.png'), pngSample({ width: 3 }));
    await writeFile(join(folder, 'ws', 'big.png'), pngSample({ width: 900, height: 900 }));
    const paths = ['shot.txt', 'other.png', 'big.png', 'paper.png'];
    const media = 'media.image = { max_bytes = 100, max_count = 1 }\nmedia.pdf = { max_pages = 1 }';
    const { ends } = await readAll(row, paths, { media });
    expect(ends.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
      'media_too_large',
      'media_too_large',
    ]);
    expect(ends[2]?.error?.message).toMatch(/has \d+ bytes.*at most 100 bytes/);
    expect(ends[3]?.error?.message).toContain('it has 2 pages, and at most 1 can be read at once');
    const newest = Buffer.from(pngSample({ width: 3 })).toString('base64');
    expect(placesOf(bodyOf(1), newest)).toHaveLength(1);
    expect(placesOf(bodyOf(1), base64Of('image'))).toEqual([]);
    expect(JSON.stringify(bodyOf(1))).toContain('a request holds the newest 1 images');
  });

  it('a lesser model goes on with notes in place of media, and the log keeps the media [MED-2] [field I10]', async () => {
    const { session } = await readAll(row, [FILES.image.name, FILES.pdf.name]);
    server.reply(row.turn({ text: 'Blind.' }), row.turn({ text: 'Sighted.' }));
    const flags = ['--session', session];
    expect(await run(row, { input: ['text'], flags })).toMatchObject({ code: 0, stderr: '' });
    const blind = JSON.stringify(bodyOf(2));
    expect(blind).not.toContain(base64Of('image'));
    expect(blind).toContain(`lab/${row.model} takes no images`);
    expect(blind).toContain(`lab/${row.model} takes no PDFs`);
    expect(await run(row, { flags })).toMatchObject({ code: 0, stderr: '' });
    expect(placesOf(bodyOf(3), base64Of('image'))).toEqual([row.places.image?.replace('[7]', '[5]')]);
  });

  it('a file that the provider refuses goes as a note, the run goes on, the log keeps the file, and the next process knows [SES-9] [field A16]', async () => {
    server.reply(
      row.turn({ calls: [readOf(FILES.pdf.name)] }),
      httpError(400, { error: { message: 'The PDF specified was not valid' } }),
      row.turn({ text: 'Without it, then.' }),
    );
    const ended = await run(row);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' });
    expect(linesOf(ended).at(-1)).toMatchObject({ status: 'completed', final_text: 'Without it, then.' });
    expect(placesOf(bodyOf(1), base64Of('pdf'))).toHaveLength(1);
    expect(placesOf(bodyOf(2), base64Of('pdf'))).toEqual([]);
    expect(JSON.stringify(bodyOf(2))).toContain('is not sent: the provider refused a request with it');
    expect(ended.stdout).toContain('"mime_type":"application/pdf"');
    // What was attached before stays with the next process, and so does the note: nothing is refused a second time.
    server.reply(row.turn({ text: 'Still without it.' }));
    const flags = ['--session', linesOf(ended).at(-1)?.session_id ?? ''];
    expect(await run(row, { flags })).toMatchObject({ code: 0, stderr: '' });
    expect(server.requests).toHaveLength(4);
    expect(placesOf(bodyOf(3), base64Of('pdf'))).toEqual([]);
    expect(JSON.stringify(bodyOf(3))).toContain('is not sent: the provider refused a request with it');
  });

  it('a file whose content is gone from the store becomes a note, and the session goes on [ART-16] [MED-5]', async () => {
    const { ends, session } = await readAll(row, [FILES.image.name, FILES.pdf.name]);
    const digest = ends[0]?.result?.attachments[0]?.sha256 ?? '';
    const [project = ''] = await readdir(join(folder, 'home', 'projects'));
    await rm(join(folder, 'home', 'projects', project, 'artifacts', digest));
    server.reply(row.turn({ text: 'Fine.' }));
    expect(await run(row, { flags: ['--session', session] })).toMatchObject({ code: 0, stderr: '' });
    expect(placesOf(bodyOf(2), base64Of('image'))).toEqual([]);
    expect(JSON.stringify(bodyOf(2))).toContain('is not sent: its content was removed from the store');
    expect(placesOf(bodyOf(2), base64Of('pdf'))).toHaveLength(1);
  });
});
