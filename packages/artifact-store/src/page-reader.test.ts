import { readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { ArtifactPage } from '@agentd/contract';
import type { ArtifactStore } from './artifact-store.ts';
import {
  BASH,
  NO_ABORT,
  captureAll,
  hintOf,
  openStore,
  readPages,
  requestOf,
  sha256,
} from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const newStore = async () => openStore(await newFolder());
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');

/** A store with one blob in it, written as an attachment would be. */
async function storeWith(content: string | Uint8Array) {
  const { store, folder } = await newStore();
  const digest = sha256(content);
  await writeFile(join(folder, digest), content);
  const page = (offset: number, limit: number): Promise<ArtifactPage> =>
    pageOf(store, `artifact://${digest}`, offset, limit);
  return { store, folder, digest, path: join(folder, digest), page };
}

function pageOf(
  store: ArtifactStore,
  uri: string,
  ...[offset, limit]: [number, number]
): Promise<ArtifactPage> {
  return store.page({ address: store.parse(uri), offset, limit }, NO_ABORT);
}

describe('a page', () => {
  it('holds the stored lines from the offset on, and says where to go on [ART-4]', async () => {
    const { page } = await storeWith('a\nb\r\nc\n');
    expect(await page(0, 2)).toEqual({ text: 'a\nb\r\n', nextOffset: 2 });
    expect(await page(1, 1)).toEqual({ text: 'b\r\n', nextOffset: 2 });
    expect(await page(2, 1)).toEqual({ text: 'c\n', nextOffset: null });
    expect(await page(0, 3)).toEqual({ text: 'a\nb\r\nc\n', nextOffset: null });
  });

  it('ends with the text where the last line has no LF [ART-4]', async () => {
    const { page } = await storeWith('a\nb');
    expect(await page(1, 2000)).toEqual({ text: 'b', nextOffset: null });
    expect(await page(0, 1)).toEqual({ text: 'a\n', nextOffset: 1 });
  });

  it('of an empty artifact is empty at offset 0, and an error after it [ART-4]', async () => {
    const { page } = await storeWith('');
    expect(await page(0, 10)).toEqual({ text: '', nextOffset: null });
    await expect(page(1, 10)).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: 'offset 1 is past the end: the artifact has 0 lines; use offset=0',
    });
  });

  it('past the end is an error that names the number of lines [ART-4]', async () => {
    const { page } = await storeWith('a\nb\n');
    await expect(page(2, 10)).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: 'offset 2 is past the end: the artifact has 2 lines; use an offset from 0 to 1',
    });
  });

  it('has at most 2,000 lines, also when more are asked for [ART-4]', async () => {
    const { page } = await storeWith(numbered(4500));
    const { text, nextOffset } = await page(0, 1_000_000);
    expect(text).toBe(numbered(2000));
    expect(nextOffset).toBe(2000);
  });

  it.each([
    [0, 0],
    [0, -1],
    [0, 1.5],
    [-1, 10],
    [0.5, 10],
    [NaN, 10],
    [0, NaN],
  ])('refuses offset %p with limit %p [ART-4]', async (offset, limit) => {
    const { page } = await storeWith('a\n');
    await expect(page(offset, limit)).rejects.toMatchObject({ code: 'invalid_arguments' });
  });

  it('joined with the others gives the stored bytes, and the last names no next one [field E9] [ART-4] [OUT-5]', async () => {
    const { store, folder } = await newStore();
    const text = Array.from({ length: 4000 }, (_, at) => `${at}${'é'.repeat(at % 50)}\n`).join('');
    const { text: shown, retained } = await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text }]);
    const { uri, offset } = hintOf(shown)!;
    const head = shown
      .split('\n')
      .slice(1, offset + 1)
      .map((line) => `${line}\n`)
      .join('');
    const rest = await readPages(store, uri, { offset, limit: 700 });
    expect(rest.length).toBeGreaterThan(3);
    expect(head + rest.join('')).toBe(text);
    expect(await readFile(join(folder, retained!.streams[0]!.sha256), 'utf8')).toBe(text);
  });

  it('is found anywhere in a large blob with lines of every length [ART-4] [OUT-14]', async () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `${at} ${'€'.repeat((at * 7919) % 500)}\n`);
    lines[1500] = `${'x'.repeat(700_000)}\n`;
    const { page } = await storeWith(lines.join(''));
    for (let offset = 0; offset < lines.length; offset += 97) {
      expect(await page(offset, 3)).toEqual({
        text: lines.slice(offset, offset + 3).join(''),
        nextOffset: offset + 3 < lines.length ? offset + 3 : null,
      });
    }
  });

  it('over 2 MiB fails and names a limit that works [OUT-20] [ART-4]', async () => {
    const line = `${'x'.repeat(65_535)}\n`;
    const { page } = await storeWith(line.repeat(40));
    await expect(page(0, 40)).rejects.toMatchObject({
      code: 'resource_limit',
      message: expect.stringContaining('ask for a smaller limit, for example limit=32') as unknown,
    });
    expect((await page(0, 32)).text.length).toBe(2 * 1024 * 1024);
    await expect(page(3, 33)).rejects.toMatchObject({ code: 'resource_limit' });
  });

  it('of one line over 2 MiB fails and says how to get past it [OUT-20]', async () => {
    const { page } = await storeWith(`${'x'.repeat(2 * 1024 * 1024)}\nnext\n`);
    await expect(page(0, 1)).rejects.toMatchObject({
      code: 'resource_limit',
      message: expect.stringContaining('go on with offset=1') as unknown,
    });
    expect((await page(1, 1)).text).toBe('next\n');
  });

  it('of a last line over 2 MiB names no line that is not there [OUT-20]', async () => {
    const { page } = await storeWith('x'.repeat(2 * 1024 * 1024 + 1));
    await expect(page(0, 1)).rejects.toMatchObject({
      code: 'resource_limit',
      message: expect.stringMatching(/no limit can help; it is the last line$/) as unknown,
    });
  });

  it('stops when its signal is aborted, and spares other readers of the same blob [ART-4]', async () => {
    const { store, digest, page } = await storeWith(numbered(500_000));
    const abort = new AbortController();
    const request = { address: store.parse(`artifact://${digest}`), offset: 0, limit: 1 };
    const aborted = store.page(request, abort.signal);
    const other = page(499_999, 1);
    abort.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    expect((await other).text).toBe('line 499999\n');
  });
});

describe('a suffix', () => {
  it('selects a stream that the manifest declares; without it the manifest comes as it is [ART-7]', async () => {
    const { store, folder } = await newStore();
    const declaration = { kind: 'named', streams: ['results', 'diagnostics.v2'] } as const;
    const { retained } = await captureAll(store, requestOf(declaration), [
      { stream: 'diagnostics.v2', text: 'd\n' },
      { stream: 'results', text: 'r\n' },
    ]);
    const uri = retained!.reference.uri.replace('sha256/', '');
    expect(await pageOf(store, `${uri}/results`, 0, 10)).toEqual({ text: 'r\n', nextOffset: null });
    expect(await pageOf(store, `${uri}/diagnostics.v2`, 0, 10)).toEqual({ text: 'd\n', nextOffset: null });
    const manifest = await readFile(join(folder, uri.replace('artifact://', '')), 'utf8');
    expect(await pageOf(store, uri, 0, 10)).toEqual({ text: manifest, nextOffset: null });
    await expect(pageOf(store, `${uri}/stdout`, 0, 10)).rejects.toMatchObject({
      code: 'artifact_uri',
      message: `${uri} declares no stream "stdout"; it declares: results, diagnostics.v2`,
    });
  });

  it.each([
    ['text', 'hello\n'],
    ['nothing', ''],
    ['other JSON', '{"streams":[]}'],
    ['a large blob', 'x'.repeat(1_000_000)],
    ['bytes', Buffer.from([0xff, 0xfe, 0x00])],
  ])('after %s is an error that says so [ART-7]', async (_, content) => {
    const { store, digest } = await storeWith(content);
    await expect(pageOf(store, `artifact://${digest}/stdout`, 0, 10)).rejects.toMatchObject({
      code: 'artifact_uri',
      message: `artifact://${digest} has no named streams: leave out "/stdout"`,
    });
  });
});

describe('an artifact that is not what it should be', () => {
  it('is missing: a tool error that says what to do [ART-2]', async () => {
    const { store } = await newStore();
    await expect(pageOf(store, `artifact://${sha256('never')}`, 0, 10)).rejects.toMatchObject({
      code: 'artifact_missing',
    });
  });

  it('is missing under a manifest that is there [ART-2]', async () => {
    const { store, folder } = await newStore();
    const { retained } = await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text: 'x' }]);
    await rm(join(folder, sha256('x')));
    const uri = retained!.reference.uri.replace('sha256/', '');
    await expect(pageOf(store, `${uri}/stdout`, 0, 10)).rejects.toMatchObject({ code: 'artifact_missing' });
    expect((await pageOf(store, `${uri}/stderr`, 0, 10)).text).toBe('');
  });

  it('has other content than its name says [ART-2]', async () => {
    const { store, folder } = await newStore();
    await writeFile(join(folder, sha256('right')), 'wrong');
    const read = pageOf(store, `artifact://${sha256('right')}`, 0, 10);
    await expect(read).rejects.toMatchObject({ code: 'artifact_corrupt' });
  });

  it('changed after it was read once: it is verified again [ART-2]', async () => {
    const { page, path } = await storeWith('right');
    expect((await page(0, 1)).text).toBe('right');
    await writeFile(path, 'wrong');
    await expect(page(0, 1)).rejects.toMatchObject({ code: 'artifact_corrupt' });
    await writeFile(path, 'right');
    expect((await page(0, 1)).text).toBe('right');
  });

  it('is not read again while inode, size and time are the same [ART-2]', async () => {
    const { page, path } = await storeWith('right');
    const time = new Date(2026, 0, 1);
    await utimes(path, time, time);
    expect((await page(0, 1)).text).toBe('right');
    // Forged so that nothing shows: only a second full read would tell, and none is made.
    await writeFile(path, 'wrong');
    await utimes(path, time, time);
    expect((await page(0, 1)).text).toBe('wrong');
  });

  it('is a link or a folder: never followed [ART-2] [ART-5]', async () => {
    const { store, folder } = await newStore();
    const secret = join(await newFolder(), 'secret');
    await writeFile(secret, 'secret');
    await symlink(secret, join(folder, sha256('secret')));
    const read = pageOf(store, `artifact://${sha256('secret')}`, 0, 10);
    await expect(read).rejects.toMatchObject({ code: 'artifact_corrupt' });
  });

  it('lies in a store that was never written: missing, and the store opens [ART-2]', async () => {
    const parent = await newFolder();
    await writeFile(join(parent, 'artifacts'), 'a file where the folder should be');
    const { store } = await openStore(parent);
    const read = pageOf(store, `artifact://${sha256('x')}`, 0, 10);
    await expect(read).rejects.toMatchObject({ code: 'artifact_missing' });
    await store.close();
  });

  it.each([
    ['image/png', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
    ['application/pdf', Buffer.from('%PDF-1.7\n\xe2\xe3\xcf\xd3', 'latin1')],
    ['application/octet-stream', Buffer.from([0x61, 0x80, 0x0a])],
    ['application/octet-stream', Buffer.from('cut in a character €'.slice(0, -1) + '\xe2\x82', 'latin1')],
  ])('is %s and no text: the error names type and size [ART-16]', async (type, content) => {
    const { page, digest } = await storeWith(content);
    await expect(page(0, 10)).rejects.toMatchObject({
      code: 'not_supported',
      message: `artifact://${digest} is no UTF-8 text but ${type} of ${content.length} bytes, which cannot be paged`,
    });
  });

  it('is text whose characters lie across the blocks that are read [ART-16] [OUT-14]', async () => {
    const text = `x${'€'.repeat(100_000)}\n`;
    const { page } = await storeWith(text);
    expect((await page(0, 1)).text).toBe(text);
  });
});
