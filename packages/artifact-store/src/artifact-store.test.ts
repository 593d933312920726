import { readFile, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { OutputDeclaration } from '@agentd/contract';
import { BASH, SINGLE, captureAll, hintOf, openStore, readPages, requestOf, sha256 } from './test/stores.ts';
import { temporaryFolders } from './test/temporary-folder.ts';

const newFolder = temporaryFolders();
const newStore = async () => openStore(await newFolder());
const visibleFiles = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name !== '.publication.lock').toSorted();
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');

describe('single output', () => {
  it('is one blob under its digest, shown whole and without hint [OUT-3] [OUT-19] [ART-1] [ART-3] [ART-17]', async () => {
    const { store, folder } = await newStore();
    const { text, retained } = await captureAll(store, requestOf(SINGLE), [
      { text: 'hello\n' },
      { text: 'world' },
    ]);
    const digest = sha256('hello\nworld');
    const reference = { uri: `artifact://sha256/${digest}` };
    expect(text).toBe('hello\nworld');
    expect(retained).toEqual({
      reference,
      incomplete: false,
      missing_bytes: 0,
      streams: [
        {
          name: null,
          reference,
          sha256: digest,
          byte_length: 11,
          line_count: 2,
          truncated: false,
          next_offset: null,
        },
      ],
    });
    expect(await readFile(join(folder, digest), 'utf8')).toBe('hello\nworld');
    expect((await stat(join(folder, digest))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await visibleFiles(folder)).toEqual([digest]);
  });

  it('has a hint without stream when it was cut, and no heading [OUT-5] [OUT-6]', async () => {
    const { store } = await newStore();
    const { text, retained } = await captureAll(store, requestOf(SINGLE, { maxLines: 4 }), [
      { text: numbered(9) },
    ]);
    expect(text).toBe(
      'line 0\nline 1\n[… 5 lines omitted]\nline 7\nline 8\n' +
        `[Truncated. Read more: read(filePath="artifact://${sha256(numbered(9))}", offset=2)]`,
    );
    expect(retained?.streams).toMatchObject([{ truncated: true, next_offset: 2, line_count: 9 }]);
  });

  it('is as large as what was printed, byte for byte [field E8]', async () => {
    const { store, folder } = await newStore();
    const text = '123456789012345678\n'.repeat(500).slice(0, 9000);
    const { retained } = await captureAll(store, requestOf(SINGLE), [{ text }]);
    const blob = await readFile(join(folder, retained!.streams[0]!.sha256));
    expect(blob.length).toBe(9000);
    expect(blob.toString()).toBe(text);
  });
});

describe('named output', () => {
  it('is one blob a stream, empty ones too, and a manifest that names them in order [OUT-2] [OUT-3] [ART-17]', async () => {
    const { store, folder } = await newStore();
    const { text, retained } = await captureAll(store, requestOf(BASH), [
      { stream: 'stdout', text: 'out\n' },
    ]);
    const [out, empty] = [sha256('out\n'), sha256('')];
    const manifest =
      '{"kind":"output_manifest","version":1,"streams":[' +
      `{"name":"stdout","reference":{"uri":"artifact://sha256/${out}"},"sha256":"${out}","byte_length":4,"line_count":1},` +
      `{"name":"stderr","reference":{"uri":"artifact://sha256/${empty}"},"sha256":"${empty}","byte_length":0,"line_count":0}]}`;
    expect(text).toBe('[stdout]\nout\n\n[stderr]');
    expect(retained?.reference.uri).toBe(`artifact://sha256/${sha256(manifest)}`);
    expect(await readFile(join(folder, sha256(manifest)), 'utf8')).toBe(manifest);
    expect(await visibleFiles(folder)).toEqual([out, empty, sha256(manifest)].toSorted());
  });

  it('renders in declaration order with one empty line between streams [OUT-3] [OUT-6]', async () => {
    const { store } = await newStore();
    const declaration = { kind: 'named', streams: ['b', 'a', 'c'] } as const;
    const { text } = await captureAll(store, requestOf(declaration), [
      { stream: 'c', text: 'third' },
      { stream: 'a', text: 'second\n' },
      { stream: 'b', text: 'first' },
    ]);
    expect(text).toBe('[b]\nfirst\n\n[a]\nsecond\n\n[c]\nthird');
  });

  it('gives only the cut stream a hint, with the digest of the manifest [OUT-4] [OUT-5]', async () => {
    const { store } = await newStore();
    const { text, retained } = await captureAll(store, requestOf(BASH, { maxLines: 2 }), [
      { stream: 'stdout', text: numbered(5) },
      { stream: 'stderr', text: 'a\nb\n' },
    ]);
    const manifest = retained!.reference.uri.replace('sha256/', '');
    expect(text).toBe(
      '[stdout]\nline 0\n[… 3 lines omitted]\nline 4\n' +
        `[Truncated. Read more: read(filePath="${manifest}/stdout", offset=1)]\n\n[stderr]\na\nb\n`,
    );
    const hint = hintOf(text)!;
    expect((await readPages(store, hint.uri, { offset: hint.offset })).join('')).toBe(numbered(5).slice(7));
  });

  it('has the same digest for the same output, whatever the preview limits [ART-17]', async () => {
    const { store } = await newStore();
    const chunks = [{ stream: 'stdout', text: numbered(50) }];
    const wide = await captureAll(store, requestOf(BASH), chunks);
    const narrow = await captureAll(store, requestOf(BASH, { maxLines: 2 }), chunks);
    expect(narrow.retained?.reference).toEqual(wide.retained?.reference);
    expect(narrow.text).not.toBe(wide.text);
  });

  it('shows the visible text of a terminal and stores what was accepted [BASH-8]', async () => {
    const { store, folder } = await newStore();
    const written = '\x1b[32mok\x1b[0m\x07\n10%\r100%\na\0b\n';
    const { text, retained } = await captureAll(store, requestOf(BASH), [
      { stream: 'stdout', text: written },
    ]);
    expect(text).toBe('[stdout]\nok\n100%\na\u2400b\n\n[stderr]');
    expect(await readFile(join(folder, retained!.streams[0]!.sha256), 'utf8')).toBe(written);
  });
});

it('shows NUL and replaced bytes as text that any log takes, and stores NUL as it is [BASH-8] [field C18]', async () => {
  const { store } = await newStore();
  const written = 'a\0b\ufffd\ufffdc\n';
  const { text, retained } = await captureAll(store, requestOf(BASH), [{ stream: 'stdout', text: written }]);
  expect(text).toBe('[stdout]\na\u2400b\ufffd\ufffdc\n\n[stderr]');
  expect(JSON.parse(JSON.stringify(text))).toBe(text);
  const uri = `${retained!.reference.uri.replace('sha256/', '')}/stdout`;
  expect(await readPages(store, uri)).toEqual([written]);
});

describe('previews of one result', () => {
  it('share 2 MiB less 16 KiB when they would be larger, with truthful hints [OUT-7]', async () => {
    const { store } = await newStore();
    const streams = Array.from({ length: 8 }, (_, at) => `s${at}`);
    const declaration = { kind: 'named', streams } as const;
    const limits = { maxLines: 10_000_000, maxBytes: 10_000_000 };
    const line = `${'x'.repeat(99)}\n`;
    const { text, retained } = await captureAll(
      store,
      requestOf(declaration, limits),
      streams.map((stream) => ({ stream, text: line.repeat(10_000) })),
    );
    const share = Math.floor((2 * 1024 * 1024 - 16 * 1024) / 8);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(2 * 1024 * 1024);
    expect(Buffer.byteLength(text)).toBeGreaterThan(8 * share);
    expect(retained?.streams.map(({ next_offset }) => next_offset)).toEqual(
      streams.map(() => Math.floor(share / 2 / 100)),
    );
  });

  it('are not reduced while they fit together, however high the limits [OUT-7]', async () => {
    const { store } = await newStore();
    const text = numbered(150_000);
    const result = await captureAll(store, requestOf(BASH, { maxLines: 1e9, maxBytes: 1e9 }), [
      { stream: 'stdout', text },
    ]);
    expect(result.text).toBe(`[stdout]\n${text}\n[stderr]`);
  });
});

describe('text in chunks', () => {
  it('stays whole where a chunk splits a surrogate pair [OUT-14] [BASH-8]', async () => {
    const { store, folder } = await newStore();
    const { retained } = await captureAll(store, requestOf(BASH), [
      { stream: 'stdout', text: 'a\ud834' },
      { stream: 'stderr', text: '\ud834' },
      { stream: 'stdout', text: '\udd1eb\udd1e' },
    ]);
    const [out, err] = retained!.streams;
    expect(await readFile(join(folder, out!.sha256), 'utf8')).toBe('a𝄞b\ufffd');
    expect(await readFile(join(folder, err!.sha256), 'utf8')).toBe('\ufffd');
  });

  it('keeps its order, also when the tool does not wait [OUT-2] [OUT-12]', async () => {
    const { store, folder } = await newStore();
    const capture = await store.capture(requestOf(SINGLE));
    const texts = Array.from({ length: 200 }, (_, at) => `${at} ${'x'.repeat(at * 97)}\n`);
    const accepted = texts.map((text) => capture.accept([{ text }]));
    const { retained, release } = await capture.finish({ incomplete: false });
    await Promise.all(accepted);
    await release();
    expect(await readFile(join(folder, retained!.streams[0]!.sha256), 'utf8')).toBe(texts.join(''));
  });

  it('is stored and paged as it was accepted, whatever it is [OUT-2] [ART-4] [ART-7]', async () => {
    const { store } = await newStore();
    const chunk = fc.record({
      stream: fc.constantFrom('stdout', 'stderr'),
      text: fc.string({
        unit: fc.constantFrom('a', '\n', '\r', '\0', '\x1b[1m', 'é', '€', '𝄞'),
        maxLength: 30,
      }),
    });
    const tinyLimits = fc.record({
      maxLines: fc.integer({ min: 1, max: 5 }),
      maxBytes: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), tinyLimits, async (chunks, limits) => {
        const { retained } = await captureAll(store, requestOf(BASH, limits), chunks);
        const uri = retained!.reference.uri.replace('sha256/', '');
        for (const { name, byte_length, line_count } of retained!.streams) {
          const text = chunks.map(({ stream, text }) => (stream === name ? text : '')).join('');
          const read = await readPages(store, `${uri}/${name}`, { limit: 3 });
          expect(read.join('')).toBe(text);
          expect(byte_length).toBe(Buffer.byteLength(text));
          expect(line_count).toBe((text.match(/[^\n]*\n|[^\n]+$/g) ?? []).length);
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('a result, its hint and the pages that it leads to', () => {
  const declarations = fc.constantFrom<OutputDeclaration>(SINGLE, { kind: 'named', streams: ['only'] });
  const texts = fc.string({
    unit: fc.constantFrom('a', ' ', '\n', '\n', '\r', 'é', '€', '𝄞', '[', ']'),
    maxLength: 200,
  });
  const limits = fc.record({
    maxLines: fc.integer({ min: 1, max: 20 }),
    maxBytes: fc.integer({ min: 1, max: 150 }),
  });
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });

  it('give the text together, in any chunks and with any limits [OUT-4] [OUT-5] [OUT-6] [OUT-14] [ART-4]', async () => {
    const { store } = await newStore();
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(declarations, texts, limits, cuts),
        fc.integer({ min: 1, max: 9 }),
        async ([declaration, text, at, sizes], limit) => {
          const stream = declaration.kind === 'named' ? { stream: 'only' } : {};
          const chunks = inChunks(text, sizes).map((part) => ({ ...stream, text: part }));
          const { text: shown } = await captureAll(store, requestOf(declaration, at), chunks);
          const heading = declaration.kind === 'single' ? '' : '[only]\n';
          expect(shown.startsWith(heading.trimEnd())).toBe(true);
          const preview = shown.slice(heading.length);
          const hint = hintOf(preview);
          if (hint === null) return expect(preview).toBe(text);
          const head = preview.split(/(?<=\n)/).slice(0, hint.offset);
          const pages = await readPages(store, hint.uri, { offset: hint.offset, limit });
          expect(head.join('') + pages.join('')).toBe(text);
        },
      ),
      { numRuns: 200 },
    );
  });

  /** Cuts a text into pieces of these sizes in turn, also within a surrogate pair. */
  function inChunks(text: string, sizes: readonly number[]): readonly string[] {
    const chunks: string[] = [];
    for (let at = 0, turn = 0; at < text.length; turn += 1) {
      const size = sizes[turn % sizes.length]!;
      chunks.push(text.slice(at, at + size));
      at += size;
    }
    return chunks;
  }
});

describe('limits', () => {
  it.each([
    ['maxLines', 0],
    ['maxBytes', -1],
    ['maxCaptureBytes', 1.5],
    ['maxLines', NaN],
    ['maxBytes', Infinity],
  ])('are positive integers: %s is not %p [OUT-15]', async (name, limit) => {
    const { store } = await newStore();
    const request = requestOf(SINGLE, { [name]: limit });
    const refusal = {
      code: 'ARTIFACT_STORE_LIMITS',
      message: `${name} must be a positive integer, not ${limit}`,
    };
    await expect(store.capture(request)).rejects.toMatchObject(refusal);
    await expect(store.recover(request)).rejects.toMatchObject(refusal);
  });
});

describe('deduplication', () => {
  it('keeps one file for equal content and makes it new again [ART-1] [ART-10]', async () => {
    const { store, folder } = await newStore();
    const path = join(folder, sha256('same'));
    await captureAll(store, requestOf(SINGLE), [{ text: 'same' }]);
    const { ino } = await stat(path);
    await utimes(path, 1, 1);
    await captureAll(store, requestOf(SINGLE), [{ text: 'same' }]);
    const after = await stat(path);
    expect(after.ino).toBe(ino);
    expect(Date.now() - after.mtimeMs).toBeLessThan(60_000);
  });

  it('does not trust a file of another length: the right content takes its place [ART-1] [ART-2]', async () => {
    const { store, folder } = await newStore();
    const path = join(folder, sha256('right'));
    await writeFile(path, 'wrong, and longer');
    await captureAll(store, requestOf(SINGLE), [{ text: 'right' }]);
    expect(await readFile(path, 'utf8')).toBe('right');
  });
});

describe('the end of a capture', () => {
  it('marks output of a call that did not complete, and keeps it [OUT-16]', async () => {
    const { store } = await newStore();
    const capture = await store.capture(requestOf(SINGLE));
    await capture.accept([{ text: 'so far' }]);
    const { text, retained, release } = await capture.finish({ incomplete: true });
    await release();
    expect(text).toBe('so far');
    expect(retained).toMatchObject({ incomplete: true, missing_bytes: 0 });
    expect(await readPages(store, retained!.reference.uri.replace('sha256/', ''))).toEqual(['so far']);
  });

  it('leaves nothing behind when it is discarded, and takes nothing any more [OUT-2]', async () => {
    const { store, folder } = await newStore();
    const capture = await store.capture(requestOf(BASH));
    await capture.accept([{ stream: 'stdout', text: 'x' }]);
    await capture.discard();
    await capture.discard();
    expect(await visibleFiles(folder)).toEqual([]);
    await expect(capture.accept([{ stream: 'stdout', text: 'x' }])).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_CAPTURE_CLOSED',
    });
  });

  it('gives every caller of finish the one result, after which discard does nothing [OUT-2]', async () => {
    const { store, folder } = await newStore();
    const capture = await store.capture(requestOf(SINGLE));
    const [first, second] = await Promise.all([
      capture.finish({ incomplete: false }),
      capture.finish({ incomplete: true }),
    ]);
    expect(second).toBe(first);
    await capture.discard();
    await first.release();
    await first.release();
    expect(await visibleFiles(folder)).toEqual([sha256('')]);
  });

  it('refuses a chunk for a stream that was not declared, whole, and names the declared ones [OUT-8]', async () => {
    const { store } = await newStore();
    const capture = await store.capture(requestOf(BASH));
    const chunks = [
      { stream: 'stdout', text: 'x' },
      { stream: 'log', text: 'y' },
    ];
    await expect(capture.accept(chunks)).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_STREAM_UNDECLARED',
      message: 'stream "log" was not declared; declared: stdout, stderr',
    });
    await expect(capture.accept([{ text: 'z' }])).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_STREAM_UNDECLARED',
    });
    const { text, release } = await capture.finish({ incomplete: false });
    await release();
    expect(text).toBe('[stdout]\n\n[stderr]');
  });

  it.each(['../../etc/x', 'call-1', '', 'A0000000-0000-4000-8000-000000000001'])(
    'refuses %p as the id of a call, since it names files [OUT-2]',
    async (callId) => {
      const { store } = await newStore();
      await expect(store.capture({ ...requestOf(SINGLE), callId })).rejects.toMatchObject({
        code: 'ARTIFACT_STORE_CALL_ID',
      });
    },
  );

  it('refuses a declaration that breaks the rule for names [OUT-1]', async () => {
    const { store } = await newStore();
    await expect(store.capture(requestOf({ kind: 'named', streams: ['../x'] }))).rejects.toMatchObject({
      code: 'ARTIFACT_STORE_DECLARATION',
    });
  });
});

describe('the capture limit', () => {
  it('leaves start and end of far more output to see, and all before the limit to read [OUT-21] [field C7]', async () => {
    const { store } = await newStore();
    const limits = { maxCaptureBytes: 1_000_000, maxLines: 20 };
    const capture = await store.capture(requestOf(BASH, limits));
    const block = 'y\n'.repeat(500_000);
    for (let count = 0; count < 4; count += 1) await capture.accept([{ stream: 'stdout', text: block }]);
    await capture.accept([{ stream: 'stdout', text: 'tail-mark\n' }]);
    const { text, retained, release } = await capture.finish({ incomplete: false });
    await release();
    expect(text).toMatch(/^\[stdout\]\ny\ny\n[^]*\[… 1999981 lines omitted\]\n[^]*\ny\ntail-mark\n/);
    expect(text).toContain('[3000010 bytes beyond the capture limit of 1000000 bytes were not stored]');
    expect(retained).toMatchObject({ incomplete: true, missing_bytes: 3_000_010 });
    const hint = hintOf(text)!;
    expect(hint.offset).toBe(10);
    const read = await readPages(store, hint.uri, { offset: 499_000 });
    expect(read.join('')).toBe('y\n'.repeat(1000));
  });

  it('stops the storing, says how much is missing, and goes on with the preview [OUT-21] [OUT-14] [field E1]', async () => {
    const { store, folder } = await newStore();
    const limits = { maxCaptureBytes: 8, maxLines: 4 };
    const { text, retained } = await captureAll(store, requestOf(BASH, limits), [
      { stream: 'stdout', text: 'one\nt€€€\n' },
      { stream: 'stderr', text: 'e' },
      { stream: 'stdout', text: '3\n4\n5\n' },
    ]);
    const [out, err] = retained!.streams;
    expect(await readFile(join(folder, out!.sha256), 'utf8')).toBe('one\nt€');
    expect(err).toMatchObject({ byte_length: 0 });
    expect(retained).toMatchObject({ incomplete: true, missing_bytes: 14 });
    expect(text).toContain('[stdout]\none\nt€€€\n[… 1 lines omitted]\n4\n5\n');
    expect(text.endsWith('\n[14 bytes beyond the capture limit of 8 bytes were not stored]')).toBe(true);
    // The two stored lines were seen: there is nothing more to read, so nothing is promised.
    expect(hintOf(text)).toBeNull();
    expect(out).toMatchObject({ truncated: true, next_offset: null, line_count: 2 });
  });
});
