import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { answering, eventually, fetchText, prepareFetch, respond, serve } from './testing/web-harness.ts';
import { contextIn } from '../testing/calls.ts';
import { createWebfetchTool } from './webfetch-tool.ts';

const tool = createWebfetchTool({ environment: {}, clock: systemClock });

describe('the declaration of webfetch', () => {
  it('is parallel, has single output and may be truncated [SCH-2] [WEB-14]', () => {
    expect(tool.spec).toMatchObject({
      name: 'webfetch',
      action: 'webfetch',
      concurrency: 'parallel',
      truncation: 'bounded',
      origin: 'builtin',
      output: { kind: 'single' },
    });
  });

  it('takes a url and raw, and nothing else [WEB-1] [ARG-2]', async () => {
    expect(tool.spec.parameters).toMatchObject({
      type: 'object',
      required: ['url'],
      additionalProperties: false,
      properties: { url: { type: 'string' }, raw: { type: 'boolean', default: false } },
    });
    for (const args of [{}, { url: 1 }, { url: 'http://a', raw: 'yes' }, { url: 'http://a', timeout: 5 }]) {
      await expect(tool.prepare(args, contextIn('/'), new AbortController().signal)).rejects.toMatchObject({
        code: 'invalid_arguments',
      });
    }
  });
});

describe('the address', () => {
  it.each(['HTTP://127.0.0.1:1/', 'HtTp://127.0.0.1:1/', 'HTTPS://127.0.0.1:1/'])(
    'refuses %s and shows the lowercase form [WEB-2] [field D7]',
    async (url) => {
      const lower = url.replace(/^\w+/, (scheme) => scheme.toLowerCase());
      await expect(prepareFetch(url)).rejects.toMatchObject({
        code: 'invalid_url',
        message: expect.stringContaining(JSON.stringify(lower)),
      });
    },
  );

  it.each([
    'ftp://x',
    'http:/x',
    'javascript:1',
    'file:///etc/passwd',
    ' http://x/',
    'example.com',
    '',
    'http://',
    'https://a b/',
    'http://[::1',
    'http://x:99999/',
    'http://x/\n',
    'http://ev\til.test/',
    'http://x/\uD800',
  ])('refuses %j before anything is sent [WEB-2] [field D7]', async (url) => {
    await expect(prepareFetch(url)).rejects.toMatchObject({ code: 'invalid_url' });
  });

  it('is checked once, as given, with its query string [WEB-3] [PERM-10]', async () => {
    const url = 'http://us%40er:p@127.0.0.1:1/a/../b?q=1&r=%20#part';
    const { permission } = await prepareFetch(url);
    expect(permission).toEqual({ action: 'webfetch', label: url });
  });

  it('may name the host itself [WEB-12]', async () => {
    await using server = await serve(answering('text/plain', 'local'));
    expect((await fetchText(`http://localhost:${server.port}/`)).body).toBe('local');
  });
});

describe('a result', () => {
  it('is four header lines, an empty line and the body verbatim, so that offset 5 is its first line [WEB-4] [WEB-14]', async () => {
    const body = '\r\n  {"a":1}\n\ttab\n\nend \n';
    await using server = await serve(answering('Application/JSON;charset=x', body));
    const url = `${server.origin}/a?b=1`;
    const { text, metadata, output } = await fetchText(url);
    expect(text).toBe(
      `final_url: ${url}\nstatus_code: 200\ncontent_type: Application/JSON;charset=x\ntruncated: false\n\n${body}`,
    );
    expect(text.split('\n')[5]).toBe('\r');
    expect(output.kind).toBe('single');
    expect(metadata).toEqual({
      url,
      final_url: url,
      status_code: 200,
      content_type: 'Application/JSON;charset=x',
      truncated: false,
    });
  });

  it.each([
    'text/plain',
    'text/css',
    'TEXT/Markdown; x=y',
    'application/json',
    'application/xml',
    'application/javascript',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'image/svg+xml',
  ])('passes %s through [WEB-5]', async (type) => {
    await using server = await serve(answering(type, '<p>a &amp; b</p>'));
    expect((await fetchText(server.origin)).body).toBe('<p>a &amp; b</p>');
  });

  it.each(['text/html', 'application/xhtml+xml; charset=utf-8', 'Text/HTML'])(
    'renders %s, but not raw [WEB-5]',
    async (type) => {
      const html = '<p>a &amp; b</p>';
      await using server = await serve(answering(type, html));
      expect((await fetchText(server.origin)).body).toBe('a & b');
      expect((await fetchText(server.origin, { raw: true })).body).toBe(html);
    },
  );

  it('decodes text as UTF-8 and replaces what is not [WEB-5]', async () => {
    const bytes = Buffer.concat([Buffer.from('\uFEFFgrün '), Buffer.from([0xff, 0xe9, 0x0a])]);
    await using server = await serve(answering('text/plain; charset=iso-8859-1', bytes));
    expect((await fetchText(server.origin)).body).toBe('\uFEFFgrün \uFFFD\uFFFD\n');
  });

  it.each([404, 500, 301, 304, 300, 418])(
    'of status %d comes back with its text [WEB-11]',
    async (status) => {
      await using server = await serve(answering('text/plain', status === 304 ? '' : 'sorry', status));
      const { body, metadata, error } = await fetchText(server.origin);
      expect({ body, status: metadata?.['status_code'], error }).toEqual({
        body: status === 304 ? '' : 'sorry',
        status,
        error: undefined,
      });
    },
  );
});

describe('a binary type', () => {
  it.each([
    ['IMAGE/PNG; charset=binary', 'image/png'],
    ['application/pdf', 'application/pdf'],
    ['application/octet-stream', 'application/octet-stream'],
    ['html', 'application/octet-stream'],
    ['text/', 'application/octet-stream'],
    ['', 'application/octet-stream'],
  ])('%j is refused as %s, raw or not [WEB-7] [field D20]', async (type, named) => {
    await using server = await serve((_request, response) => respond(response, type, { body: '\x89PNG' }));
    for (const raw of [false, true]) {
      await expect(fetchText(server.origin, { raw })).rejects.toMatchObject({
        code: 'unsupported_content_type',
        message: expect.stringContaining(named),
      });
    }
  });

  it('is what a missing header counts as [WEB-7] [field D20]', async () => {
    await using server = await serve((_request, response) => void response.end('<p>x</p>'));
    await expect(fetchText(server.origin)).rejects.toMatchObject({
      code: 'unsupported_content_type',
      message: expect.stringContaining('no Content-Type, which counts as application/octet-stream'),
    });
  });

  it('is refused before its body, and the connection is closed [WEB-7]', async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4' }).write('x');
    });
    await expect(fetchText(server.origin)).rejects.toMatchObject({ code: 'unsupported_content_type' });
    await eventually(() => server.sockets.size === 0);
  });

  it('declared as HTML is rendered without harm [field D20]', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
    await using server = await serve(answering('text/html', png));
    const { body } = await fetchText(server.origin);
    expect(body).toContain('PNG');
    expect(body).not.toContain('\0');
  });
});
