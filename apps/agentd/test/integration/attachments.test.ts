import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { foreignSamples, mediaSamples, pngSample } from '@agentd/media-delivery/testing';
import { Workbench } from './workbench.ts';

interface Report {
  readonly outcome: string;
  readonly text: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly attachments: readonly {
    readonly mime_type: string;
    readonly byte_length: number;
    readonly sha256: string;
    readonly filename: string;
    readonly reference: { readonly uri: string };
  }[];
  readonly error: { readonly code: string; readonly message: string } | null;
}

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.create();
});
afterAll(async () => bench[Symbol.asyncDispose]());

const file = (name: string, bytes: Uint8Array) => writeFile(join(bench.workspace, name), bytes);

async function read(filePath: string) {
  const { stdout, code } = await bench.run(['tools', 'call', 'read', JSON.stringify({ filePath }), '--json']);
  return { code, report: JSON.parse(stdout) as Report };
}

async function artifacts(): Promise<string> {
  const [project = ''] = await readdir(join(bench.home, 'projects'));
  return join(bench.home, 'projects', project, 'artifacts');
}

describe('read by hand', () => {
  it('attaches every valid file, whoever might read it later, and stores it by its content [MED-2] [FS-12] [ART-16] [CLI-6]', async () => {
    const sample = mediaSamples().find(({ mimeType }) => mimeType === 'video/mp4')!;
    await file('film.txt', sample.bytes);
    const { code, report } = await read('film.txt');
    expect(code).toBe(0);
    const [attachment] = report.attachments;
    expect(report).toMatchObject({
      outcome: 'completed',
      text: `Attached video/mp4 (${sample.bytes.length.toLocaleString('en-US')} bytes).`,
      metadata: { kind: 'attachment', mime_type: 'video/mp4' },
      error: null,
    });
    expect(Object.keys(attachment ?? {})).toEqual([
      'mime_type',
      'byte_length',
      'sha256',
      'filename',
      'reference',
    ]);
    expect(attachment).toMatchObject({ filename: 'film.txt', byte_length: sample.bytes.length });
    expect(attachment?.reference.uri).toBe(`artifact://sha256/${attachment?.sha256}`);
    const blob = await stat(join(await artifacts(), attachment?.sha256 ?? ''));
    expect([blob.size, blob.mode & 0o777]).toEqual([sample.bytes.length, 0o600]);
  });

  it('prints only what a model would read: no content of a file [ERR-2] [FS-12]', async () => {
    await file('p.png', pngSample());
    const { stdout } = await bench.run(['tools', 'call', 'read', '{"filePath":"p.png"}']);
    expect(stdout).toBe(`Attached image/png (${pngSample().length} bytes).\n`);
  });

  it('refuses to page what it attached, by type and size [ART-16]', async () => {
    await file('q.png', pngSample({ width: 5 }));
    const { report } = await read('q.png');
    const again = await read(`artifact://${report.attachments[0]?.sha256}`);
    expect(again.report).toMatchObject({
      outcome: 'failed',
      attachments: [],
      error: {
        code: 'not_supported',
        message: expect.stringContaining(`image/png of ${pngSample({ width: 5 }).length} bytes`),
      },
    });
  });

  it('refuses what is cut off and what is no kind, and gives text under a name of media as text [MED-1] [ERR-1]', async () => {
    await file('cut.png', pngSample().subarray(0, 60));
    expect((await read('cut.png')).report.error).toMatchObject({
      code: 'media_invalid',
      message: expect.stringContaining('it is no complete PNG file'),
    });
    const bmp = foreignSamples().find(({ mimeType }) => mimeType === 'image/bmp')!;
    await file('b.bmp', bmp.bytes);
    const foreign = (await read('b.bmp')).report;
    expect(foreign.error).toMatchObject({
      code: 'media_invalid',
      message: expect.stringMatching(/image\/bmp is none of the accepted kinds, which are .*PNG/),
    });
    await file('poem.png', Buffer.from('roses\n'));
    expect((await read('poem.png')).report).toMatchObject({ outcome: 'completed', attachments: [] });
  });

  it('keeps what a session refers to through a collection, and nothing else [ART-9] [ART-16]', async () => {
    await file('r.png', pngSample({ width: 6 }));
    const { report } = await read('r.png');
    const digest = report.attachments[0]?.sha256 ?? '';
    const folder = await artifacts();
    const stray = 'f'.repeat(64);
    await writeFile(join(folder, stray), 'x');
    const longAgo = new Date(Date.now() - 7_200_000);
    for (const name of [digest, stray]) await utimes(join(folder, name), longAgo, longAgo);
    expect((await bench.run(['artifacts', 'gc'])).code).toBe(0);
    const left = await readdir(folder);
    expect([left.includes(digest), left.includes(stray)]).toEqual([true, false]);
  });
});
