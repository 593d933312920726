import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  appendFile,
  open,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { codeOf } from '@agentd/contract';
import { scratchFolder } from '../testing/calls.ts';
import { encodeText, type TextEncoding } from '../target/text-encoding.ts';
import type { PageRequest } from './page-frame.ts';
import { TextReader, type ScanTuning } from './text-reader.ts';

/** So small that a few lines have marks; files are settled at once. */
const SMALL: ScanTuning = {
  chunkBytes: 8,
  lookAheadBytes: 16,
  stepBytes: 16,
  now: () => Date.now() + 60_000,
};
const { signal } = new AbortController();

async function setup(tuning: Partial<ScanTuning> = {}) {
  const folder = await scratchFolder();
  const path = join(folder.path, 'f');
  const reader = new TextReader({ ...SMALL, ...tuning });
  const page = async (by: TextReader, request: PageRequest, spied = (handle: FileHandle) => handle) => {
    const handle = await open(path);
    try {
      return await by.page({ handle: spied(handle), path }, request, signal);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return { text: (error as Error).message, metadata: {} };
    } finally {
      await handle.close();
    }
  };
  return {
    folder: folder.path,
    path,
    reader,
    page,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Counts what is read through a handle; `onRead` runs before each read. */
function counting(onRead: () => Promise<void> = async () => {}) {
  const count = { bytes: 0 };
  const spied = (handle: FileHandle): FileHandle =>
    new Proxy(handle, {
      get: (target, name) => {
        if (name !== 'read') {
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? value.bind(target) : value;
        }
        return async (...args: [Buffer, number, number, number]) => {
          await onRead();
          const result = await target.read(...args);
          count.bytes += result.bytesRead;
          return result;
        };
      },
    });
  return { count, spied };
}

const line = fc.constantFrom('', 'a', 'bcd', '\u6d4b\u{1f600}', 'x\r', 'long '.repeat(9), '\ufeff');
const textOfLines = fc
  .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('', '\n'))
  .map(([lines, end]) => lines.join('\n') + end);
const encoding = fc.constantFrom<TextEncoding>('utf-8', 'utf-8-bom', 'utf-16le', 'utf-16be');

type Change =
  | { readonly kind: 'none' }
  | { readonly kind: 'rewrite' | 'replace'; readonly text: string; readonly encoding: TextEncoding }
  | { readonly kind: 'append'; readonly text: string }
  | { readonly kind: 'cut'; readonly share: number }
  | { readonly kind: 'flip'; readonly share: number };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.constant({ kind: 'none' as const }),
  fc.record({ kind: fc.constantFrom('rewrite' as const, 'replace' as const), text: textOfLines, encoding }),
  fc.record({ kind: fc.constant('append' as const), text: textOfLines }),
  fc.record({
    kind: fc.constantFrom('cut' as const, 'flip' as const),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);

async function apply(path: string, made: Change): Promise<void> {
  const handle = await open(path, 'r+');
  const { size } = await handle.stat();
  try {
    if (made.kind === 'rewrite') await writeFile(path, encodeText(made.text, made.encoding));
    else if (made.kind === 'append') await appendFile(path, made.text);
    else if (made.kind === 'cut') await truncate(path, Math.floor(size * made.share));
    // The size stays: only the times tell.
    else if (made.kind === 'flip' && size > 0) await handle.write('\n', Math.floor((size - 1) * made.share));
    else if (made.kind === 'replace') {
      await writeFile(`${path}.new`, encodeText(made.text, made.encoding));
      await rename(`${path}.new`, path);
    }
  } finally {
    await handle.close();
  }
}

describe('TextReader, with what it remembers', () => {
  it('gives the page that a reader without memory gives, whatever is changed between reads [FS-14]', async () => {
    await using s = await setup();
    let tick = 1;
    await fc.assert(
      fc.asyncProperty(
        textOfLines,
        encoding,
        fc.array(fc.tuple(change, fc.nat(35), fc.integer({ min: 1, max: 6 })), {
          minLength: 1,
          maxLength: 12,
        }),
        async (text, encoding, steps) => {
          await writeFile(s.path, encodeText(text, encoding));
          for (const [made, offset, limit] of steps) {
            await apply(s.path, made);
            // Every change has a time of its own, as fine as the clock of the file system may be.
            if (made.kind !== 'none') await utimes(s.path, tick, tick++);
            const request = { offset, limit };
            const [page, naive] = [
              await s.page(s.reader, request),
              await s.page(new TextReader(SMALL), request),
            ];
            expect(page.text).toBe(naive.text);
            // What lies beyond the page it may know better.
            expect(page.metadata).toMatchObject(withoutEnd(naive.metadata));
            const whole = await s.page(new TextReader({ ...SMALL, lookAheadBytes: 1e9 }), request);
            if ('total_lines' in page.metadata) expect(page.metadata).toEqual(whole.metadata);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  const withoutEnd = ({ line_ending: _ending, ...metadata }: object & { line_ending?: unknown }) => metadata;

  it.each<[TextEncoding]>([['utf-8'], ['utf-16le'], ['utf-16be']])(
    'reads little more than the page of a file in %s the second time [FS-14]',
    async (encoding) => {
      await using s = await setup({ chunkBytes: 4096, lookAheadBytes: 16_384, stepBytes: 8192 });
      const text = Array.from({ length: 60_000 }, (_, i) => `line ${i} \u6d4b\n`).join('');
      const bytes = encodeText(text, encoding);
      await writeFile(s.path, bytes);
      const far = { offset: 50_000, limit: 3 };
      const [first, second, near] = [counting(), counting(), counting()];
      const pages = [
        await s.page(s.reader, far, first.spied),
        await s.page(s.reader, far, second.spied),
        await s.page(s.reader, { offset: 20_000, limit: 3 }, near.spied),
      ];
      expect(pages.map(({ text }) => /^\d+: .*$/m.exec(text)?.[0])).toEqual([
        '50001: line 50000 \u6d4b',
        '50001: line 50000 \u6d4b',
        '20001: line 20000 \u6d4b',
      ]);
      expect(first.count.bytes).toBeGreaterThan(bytes.length / 2);
      expect(second.count.bytes).toBeLessThanOrEqual(8192 + 2 * 4096);
      expect(near.count.bytes).toBeLessThanOrEqual(8192 + 2 * 4096);
    },
  );

  it('remembers the number of lines, so that an offset past the end reads nothing [FS-14] [FS-4]', async () => {
    await using s = await setup();
    await writeFile(s.path, 'a\nb\r\n'.repeat(50));
    expect((await s.page(s.reader, { offset: 99, limit: 5 })).metadata).toMatchObject({ total_lines: 100 });
    const { count, spied } = counting();
    expect((await s.page(s.reader, { offset: 100, limit: 5 }, spied)).text).toContain('has 100 lines');
    expect(count.bytes).toBe(0);
    expect((await s.page(s.reader, { offset: 0, limit: 2 })).metadata).toEqual({
      kind: 'text',
      offset: 0,
      limit: 2,
      total_lines: 100,
      next_offset: 2,
      line_ending: 'mixed',
    });
  });

  it('finds the bad byte of a file again without a scan from the start [FS-14] [FS-4]', async () => {
    await using s = await setup();
    await writeFile(s.path, Buffer.concat([Buffer.from('abc\n'.repeat(5000)), Buffer.from([0])]));
    const [first, second] = [counting(), counting()];
    for (const { spied } of [first, second]) {
      expect((await s.page(s.reader, { offset: 6000, limit: 1 }, spied)).text).toContain('NUL at byte 20000');
    }
    expect(first.count.bytes).toBeGreaterThan(20_000);
    // The head, which says what the file is instead, is most of it.
    expect(second.count.bytes).toBeLessThan(first.count.bytes - 15_000);
    expect((await s.page(s.reader, { offset: 0, limit: 1 })).text).toContain('\n1: abc\n');
  });

  it('goes through a line of many chunks without keeping it, and takes up behind it [FS-14]', async () => {
    await using s = await setup();
    await writeFile(s.path, `first\n${'x'.repeat(5000)}\nlast\n`);
    const request = { offset: 2, limit: 1 };
    const { count, spied } = counting();
    await s.page(s.reader, request);
    expect((await s.page(s.reader, request, spied)).text).toContain('\n3: last\n');
    expect(count.bytes).toBeLessThanOrEqual(64);
  });

  it('does not believe what it knows when the file changes while the page is read [FS-14]', async () => {
    await using s = await setup();
    const before = Array.from({ length: 200 }, (_, i) => `old ${i}\n`).join('');
    await writeFile(s.path, before);
    await s.page(s.reader, { offset: 199, limit: 1 });
    let changed = false;
    const { spied } = counting(async () => {
      if (changed) return;
      changed = true;
      await writeFile(s.path, 'new line\n'.repeat(300));
      await utimes(s.path, 1, 1);
    });
    const page = await s.page(s.reader, { offset: 150, limit: 1 }, spied);
    expect(page.text).toContain('\n151: new line\n');
    expect((await s.page(s.reader, { offset: 299, limit: 1 })).metadata).toMatchObject({ total_lines: 300 });
  });

  it('keeps nothing of a file that changed just now: a second change may have the same time [FS-14]', async () => {
    let now = 0;
    await using s = await setup({ now: () => now });
    await writeFile(s.path, 'a\n'.repeat(100));
    now = (await stat(s.path)).mtimeMs + 1000;
    const [first, second] = [counting(), counting()];
    await s.page(s.reader, { offset: 90, limit: 1 }, first.spied);
    await s.page(s.reader, { offset: 90, limit: 1 }, second.spied);
    expect(second.count.bytes).toBe(first.count.bytes);
    await rm(s.path);
  });

  const linuxIt = process.platform === 'linux' ? it : it.skip;
  linuxIt(
    'holds a page of a 200 MB file under 32 MiB and reads about the page the second time [FS-14]',
    () => {
      const script = fileURLToPath(new URL('../testing/read-large.ts', import.meta.url));
      const words = ['--max-semi-space-size=1', '--conditions=@agentd/source', '--expose-gc', script];
      const { stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
      expect(stderr).toBe('');
      const { lines, grownMib, readMib } = JSON.parse(stdout) as {
        lines: string[];
        grownMib: number;
        readMib: number[];
      };
      expect(lines).toEqual(['1900001: row', '1900001: row', '900001: row']);
      expect(grownMib).toBeLessThan(32);
      expect(readMib[0]).toBeGreaterThan(180);
      expect(readMib[1]).toBeLessThan(2);
      expect(readMib[2]).toBeLessThan(2);
    },
  );
});
