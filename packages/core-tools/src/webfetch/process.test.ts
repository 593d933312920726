import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { answering, respond, serve } from './testing/web-harness.ts';
import { runFetchChild } from './testing/run-fetch-child.ts';

const MIB = 1024 * 1024;

/** More than the cap, so that it is reached and passed. */
const filled = (text: string): Buffer => Buffer.alloc(20 * MIB, text);

/**
 * The cost of one large fetch in a process that has fetched before. Garbage that is collected late only adds to it, so
 * that process has little room for it, and the least of three looks counts.
 */
async function peakOf(body: Buffer, headers: object = {}): Promise<number> {
  const peaks: number[] = [];
  while (peaks.length < 3 && !(Math.min(...peaks) < 64)) peaks.push(await peakOnce(body, headers));
  return Math.min(...peaks);
}

async function peakOnce(body: Buffer, headers: object): Promise<number> {
  await using server = await serve((request, response) => {
    if (request.url === '/small') respond(response, 'text/plain', { body: 'small' });
    else respond(response, 'text/html', { body, headers });
  });
  const small = Array.from({ length: 20 }, () => `${server.origin}/small`);
  const report = await runFetchChild({ urls: [...small, server.origin], environment: {}, raw: true });
  expect(report.texts.at(-1)).toContain('truncated: true');
  return report.peakMb;
}

describe('a process that fetches', () => {
  it('loads the HTTP stack and the renderer with the first call only, and ends when it is done', async () => {
    await using server = await serve(answering('text/html', '<h1>Title</h1>'));
    const { loadedEarly, texts } = await runFetchChild({
      urls: [server.origin],
      environment: {},
      raw: false,
    });
    expect(loadedEarly).toEqual([]);
    expect(texts).toEqual([expect.stringMatching(/\n\n# Title$/)]);
  });

  it('stays under 64 MiB above idle for the largest bodies that are not rendered [WEB-16]', async () => {
    expect(await peakOf(filled('line of text\n'))).toBeLessThan(64);
    expect(await peakOf(filled('漢字かな交じり文\n'))).toBeLessThan(64);
    expect(await peakOf(gzipSync(Buffer.alloc(64 * MIB, 'a')), { 'content-encoding': 'gzip' })).toBeLessThan(
      64,
    );
  });

  // One character beyond Latin-1 makes a JavaScript string of 16 Mi characters weigh 32 MiB.
  it('stays close to that where few wide characters double the text [WEB-16]', async () => {
    expect(await peakOf(Buffer.concat([Buffer.from('€'), filled('line of text\n')]))).toBeLessThan(80);
  });
});
