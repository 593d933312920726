import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { recordBodies, type RecordedBody } from './recorded-requests.ts';

const APP = join(import.meta.dirname, '../..');
const COMPILER = join(APP, '../../node_modules/typescript/bin/tsc');
const OPTIONS =
  '--ignoreConfig --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024 --types node --allowImportingTsExtensions';

/** Compiles statements against the official types, where packages of this app are found; resolves with the complaints. */
async function compile(statements: readonly string[]): Promise<string> {
  const cache = join(APP, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'request-types-'));
  try {
    const file = join(folder, 'bodies.ts');
    const types = join(APP, 'test/official-types/requests.ts');
    const head = `import type { Requests } from ${JSON.stringify(types)};`;
    await writeFile(file, [head, ...statements, ''].join('\n'));
    const run = promisify(execFile)(process.execPath, [COMPILER, ...OPTIONS.split(' '), file]);
    return await run.then(
      ({ stdout }) => stdout,
      (error: { readonly stdout?: string; readonly message: string }) => error.stdout || error.message,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What servers like those of the SDKs take beyond them: film, and thoughts given back. */
const isBeyond = (name: string, value: unknown): boolean => {
  const { type } = (value ?? {}) as { readonly type?: unknown };
  return name === 'reasoning_content' || type === 'video_url' || type === 'video';
};

/** A body without those parts, and how many it had. */
function officialPart({ adaptor, body }: RecordedBody): { readonly body: object; readonly beyond: number } {
  let beyond = 0;
  if (!adaptor.endsWith('-compatible')) return { body, beyond };
  const parse = (name: string, value: unknown): unknown => {
    if (isBeyond(name, value)) {
      beyond += 1;
      return undefined;
    }
    // What was taken out of a list left a hole.
    return Array.isArray(value) ? value.filter(() => true) : value;
  };
  return { body: JSON.parse(JSON.stringify(body), parse) as object, beyond };
}

const declaration = (name: string, adaptor: string, body: object): string =>
  `export const ${name}: Requests[${JSON.stringify(adaptor)}] = ${JSON.stringify(body)};`;

/** A body that no provider would take, in one place. */
const BREAKS: readonly ((text: string) => string)[] = [
  (text) => text.replace('{', '{"never_heard_of":1,'),
  (text) => text.replace(/"(text|content)":"[^"]*"/, '"$1":7'),
  (text) => text.replace(/"(data|bytes|url|image_url|file_data)":"[^"]{40,}"/, '"$1":{"0":137,"1":80}'),
];

describe('the bodies that a server saw over every wire', () => {
  it('are requests by the types of the providers’ own SDKs, and those types would notice [CFG-6] [MED-5]', async () => {
    const recorded = await recordBodies();
    const statements = recorded.flatMap((one, index) => {
      const { body } = officialPart(one);
      return [`// ${one.adaptor}: ${one.about}`, declaration(`body${index}`, one.adaptor, body)];
    });
    const broken = recorded.flatMap((one, index) => {
      const text = JSON.stringify(officialPart(one).body);
      return BREAKS.map((breakIt) => breakIt(text)).flatMap((worse, way) =>
        worse === text
          ? []
          : ['// @ts-expect-error', declaration(`broken${index}_${way}`, one.adaptor, JSON.parse(worse))],
      );
    });
    expect(new Set(recorded.map(({ adaptor }) => adaptor)).size).toBe(11);
    expect(broken.length).toBeGreaterThan(2 * 3 * recorded.length - recorded.length);
    expect(await compile([...statements, ...broken])).toBe('');
  });

  it('hold only film and thoughts beyond them [DEL-2] [DEL-7]', async () => {
    const beyond = (await recordBodies()).map((one) => [one.about, officialPart(one).beyond] as const);
    const found = Object.fromEntries(beyond.filter(([, count]) => count > 0));
    expect(found).toEqual({
      'MiniMax-M3, results with files': 1,
      'MiniMax-M3, files of the user, and no tools': 1,
      'llama, results with files': 1,
      'llama, files of the user, and no tools': 1,
      'kimi-k2.6, results with files': 2,
      'kimi-k2.6, files of the user, and no tools': 2,
      'Qwen3.5-VL, results with files': 2,
      'Qwen3.5-VL, files of the user, and no tools': 2,
    });
  });
});
