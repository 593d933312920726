import { describe, expect, it } from '@jest/globals';
import { Worker } from 'node:worker_threads';
import { processorMs } from '@agentd/contract/testing';
import { decodeHtml } from './render/html-charset.ts';
import { renderHtml } from './render/render-html.ts';
import { answering, eventually, fetchText, serve, type FetchSetup } from './testing/web-harness.ts';

/** What comes back for a page that is served just so. */
async function rendered(
  contentType: string,
  page: string | readonly number[],
  { status = 200, ...setup }: FetchSetup & { readonly status?: number } = {},
): Promise<string> {
  const body = Buffer.from(page as string);
  await using server = await serve(answering(contentType, body, status));
  return (await fetchText(`${server.origin}/dir/page`, setup)).body;
}

/** What `webfetch` makes of a page once it is there, without the transfer and the thread. */
function textOfPage(page: string | readonly number[], charset: string | null = null): string {
  const html = decodeHtml(Buffer.from(page as string), charset);
  return renderHtml({ html, url: 'http://h.test/dir/page', isXhtml: false });
}

const bytes = (...parts: readonly (string | readonly number[])[]): number[] =>
  parts.flatMap((part) => (typeof part === 'string' ? [...Buffer.from(part, 'latin1')] : [...part]));

const GBK = bytes('<p>', [0xc4, 0xe3, 0xba, 0xc3], '</p>');
const SHIFT_JIS = [0x93, 0xfa, 0x96, 0x7b];

describe('the charset of a page', () => {
  it.each(['charset=gbk', 'charset="GBK"', 'Charset=gbk', "boundary=x;  charset = 'gbk' ; y=z"])(
    'is that of the header: %s [WEB-6] [field D1]',
    async (parameter) => {
      expect(await rendered(`text/html; ${parameter}`, GBK)).toBe('你好');
      expect(await rendered(`text/html; ${parameter}`, GBK, { status: 404 })).toBe('你好');
    },
  );

  it('is that of the header for Latin-1, and UTF-8 with replacement when raw [WEB-5] [WEB-6] [field D1]', async () => {
    const page = bytes('caf', [0xe9]);
    expect(await rendered('text/html; charset=iso-8859-1', page)).toBe('café');
    expect(await rendered('text/html; charset=iso-8859-1', page, { raw: true })).toBe('caf\uFFFD');
  });

  it.each([
    ['a meta tag', '<meta charset=shift_jis>'],
    ['a http-equiv form', '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=Shift_JIS">'],
    ['a meta tag at byte 1000', `<!--${'x'.repeat(992)}--> <meta charset="shift_jis">`],
    [
      'a meta tag after a script with the word',
      '<script>var a = "<meta charset=gbk>"; charset="big5"</script><meta charset=shift_jis>',
    ],
    ['a meta tag after a comment with one', '<!-- <meta charset=gbk> --><meta charset=shift_jis>'],
    ['a meta tag after an unknown name', '<meta charset=nonsense><meta charset=shift_jis>'],
    ['an XML declaration', '<?xml version="1.0" encoding="Shift_JIS"?>'],
  ])('is that of %s, where the header names none [WEB-6] [field D2]', async (_form, head) => {
    const page = bytes(head, '<p>', SHIFT_JIS, '</p>');
    expect(textOfPage(page)).toBe('日本');
    expect(textOfPage(page, 'no-such-charset')).toBe('日本');
  });

  it('is that of the header before the BOM, and of the BOM before the meta tag [WEB-6]', () => {
    const meta = '<meta charset=gbk>';
    expect(textOfPage(bytes([0xef, 0xbb, 0xbf], meta, [0xc3, 0xa9]))).toBe('é');
    expect(textOfPage([0xff, 0xfe, ...Buffer.from('<p>grün', 'utf16le')])).toBe('grün');
    expect(textOfPage(bytes([0xfe, 0xff], [0, 0x3c, 0, 0x70, 0, 0x3e, 0x4e, 0x2d]))).toBe('中');
    expect(textOfPage(bytes(meta, [0x93]), 'windows-1252')).toBe('“');
  });

  it('is UTF-8 otherwise, also where an ASCII page says UTF-16 [WEB-6]', () => {
    expect(textOfPage('grün')).toBe('grün');
    expect(textOfPage('<meta charset=utf-16>grün')).toBe('grün');
  });
});

describe('rendered text', () => {
  it.each([
    [
      'headings in their case, links with their targets [field D16]',
      '<h2>See <a href="/Case?Tok=aB">Docs</a></h2>',
      '## See Docs [http://h.test/Case?Tok=aB]',
    ],
    [
      'links against the base of the page',
      '<base href="http://b.test/x/"><a href="../y">up</a>',
      'up [http://b.test/y]',
    ],
    [
      'no target that is the text itself',
      '<a href="http://a.test/">http://a.test</a> <a href="mailto:a@b.test">a@b.test</a>',
      'http://a.test a@b.test',
    ],
    [
      'no target that leads nowhere',
      '<a href="#top">top</a> <a href="javascript:x()">run</a> <a>bare</a> <a href="data:,x">data</a>',
      'top run bare data',
    ],
    [
      'one target for links that are not closed',
      '<a href=http://a.test/1>one<a href=http://a.test/2>two',
      'one [http://a.test/1]two [http://a.test/2]',
    ],
    [
      'images as what they stand for',
      '<a href="http://a.test/"><img src=x.png alt="A picture"></a><img src="data:image/png;base64,AAAA">',
      'A picture [http://a.test/]',
    ],
    [
      'tables in upper case and with spans [field D17]',
      '<TABLE><TR><TH COLSPAN=2>H</TH></TR><TR><td>a</td><TD>b</TD></TR></TABLE><p>after</p>',
      'H\na   b\n\nafter',
    ],
    [
      'tables whose tags are not closed or missing',
      '<table><caption>Cap</caption><form><td>1<td>2<tr><td>3<td>4</form></table>',
      'Cap\n1   2\n3   4',
    ],
    [
      'tables in tables, cell by cell',
      '<table><tr><td>left<td><table><tr><td>1<td>2</table></table>',
      'left\n\n1   2',
    ],
    [
      'lists',
      '<ul><li>one<li><p>two</p><ol start=3><li>x<li>y</ol></ul>',
      ' * one\n * two\n   3. x\n   4. y',
    ],
    ['items without a list', '<li>one</li>', ' * one'],
    ['pre as it is', '<pre>\n  a &lt;b&gt;\n\n    <span>c</span></pre>', '  a <b>\n\n    c'],
    ['pre in lines', '<pre><code><div>one</div><div>two</div></code></pre>', 'one\ntwo'],
    ['quotes', '<blockquote>said<p>so</blockquote>', '> said\n> \n> so'],
    ['entities', '&lt;p&gt; &amp;amp; &eacute;&#x1F600;&nbsp;x &copy &bogus;', '<p> &amp; é😀 x © &bogus;'],
    ['no broken characters', 'a&#0;b&#xD800;c\0d', 'a\uFFFDb\uFFFDc\uFFFDd'],
    [
      'no scripts, styles and what is not seen',
      '<title>T</title><script>s("<p>")</script><STYLE>p{}</STYLE><template>t</template><svg><title>v</title></svg><p>seen',
      'seen',
    ],
    ['what follows a drawing that is not closed', '<svg><path><p>seen', 'seen'],
    ['line breaks and rules', 'a<br>b<hr>c', `a\nb\n\n${'-'.repeat(80)}\n\nc`],
    ['an empty page', '', ''],
  ] as const)('has %s [WEB-6]', (_what, page, expected) => {
    expect(textOfPage(page)).toBe(expected);
  });

  it('is at most 80 columns wide, words whole [WEB-5]', () => {
    const word = 'x'.repeat(100);
    const lines = textOfPage(`<p>${'word '.repeat(100)}</p><p>${word}</p>`).split('\n');
    expect(Math.max(...lines.filter((line) => line !== word).map(({ length }) => length))).toBe(79);
    expect(lines).toContain(word);
  });

  it('follows the rules of XHTML for XHTML only [WEB-5] [WEB-6]', async () => {
    const page = '<p/><title/><script src="x"/><div><![CDATA[a < b]]></div>seen';
    expect(await rendered('application/xhtml+xml', page)).toBe('a < b\nseen');
    expect(await rendered('text/html', '<div/>a<script/>hidden</script>seen')).toBe('aseen');
  });
});

describe('a hostile page', () => {
  const tables = 3000;
  it.each([
    ['100,000 nested divs', '<div>'.repeat(100_000)],
    ['5,000 unclosed <wbr>', '<wbr>'.repeat(5000)],
    ['5,000 unclosed <foo>', '<foo>'.repeat(5000)],
    ['3,000 nested tables', '<table><tr><td>x'.repeat(tables)],
    ['3,000 bare tables', '<table>'.repeat(tables)],
    ['20,000 nested lists', '<ul><li>x'.repeat(20_000)],
    ['20,000 nested quotes', '<blockquote>'.repeat(20_000)],
    ['20,000 nested links', '<a href=x>y'.repeat(20_000)],
    ['20,000 false closing tags', `<div>${'</p></span></table></li>'.repeat(5000)}`],
    ['20,000 rows', `<table>${'<tr><td>a<td>b'.repeat(20_000)}`],
    ['20,000 cells with spans', `<table><tr>${'<td colspan=9999999 rowspan=9999999>a'.repeat(20_000)}`],
    ['200,000 attributes', `<a ${'x=1 '.repeat(200_000)}>`],
  ])('of %s is text in under 5 s [field D15]', (_what, markup) => {
    let text = '';
    const spentMs = processorMs(() => (text = textOfPage(`${markup}innermost`)));
    expect(text).toContain('innermost');
    expect(spentMs).toBeLessThan(5000);
  });

  it('is fetched in under 5 s as well [field D15]', async () => {
    // On a busy machine it may take long; what counts is the processor time of all threads.
    const limits = { timeoutMs: 250_000, render: { timeoutMs: 240_000, memoryMb: 1024 } };
    const before = process.cpuUsage();
    const text = await rendered('text/html', `${'<div>'.repeat(100_000)}innermost`, { limits });
    const { user, system } = process.cpuUsage(before);
    expect(text).toBe('innermost');
    expect((user + system) / 1000).toBeLessThan(5000);
  });
});

describe('the renderer', () => {
  const slow = '<p>text <b>bold</b></p>'.repeat(60_000);

  it('is left when its time is over: the source comes back with a note [WEB-16]', async () => {
    const limits = { render: { timeoutMs: 1, memoryMb: 1024 } };
    const text = await rendered('text/html; charset=gbk', [...GBK, ...Buffer.from(slow)], { limits });
    expect(text).toBe(
      `[not rendered: rendering took longer than 0.001 s; this is the page's source]\n<p>你好</p>${slow}`,
    );
  });

  it('is left when it takes too much memory, and the process lives [WEB-16]', async () => {
    const limits = { render: { timeoutMs: 240_000, memoryMb: 16 } };
    const text = await rendered('text/html', slow, { limits });
    expect(text.slice(0, 100)).toMatch(
      /^\[not rendered: rendering needs more than 16 MiB of memory; .*\]\n<p>text/,
    );
  });

  it('may be handed in; one that does not start costs the rendering only [WEB-16]', async () => {
    const page = '<p>seen</p>';
    const from = (source: string) => ({
      ports: { startRenderWorker: (options: object) => new Worker(source, { ...options, eval: true }) },
    });
    const echo =
      "const w = require('node:worker_threads'); w.parentPort.postMessage(w.workerData.html.toUpperCase())";
    expect(await rendered('text/html', page, from(echo))).toBe('<P>SEEN</P>');
    for (const source of ["throw new Error('broken')", '', 'syntax error']) {
      expect(await rendered('text/html', page, from(source))).toMatch(/^\[not rendered: .+\]\n<p>seen<\/p>$/);
    }
    const startRenderWorker = (): never => {
      throw new Error('no threads here');
    };
    expect(await rendered('text/html', page, { ports: { startRenderWorker } })).toContain('no threads here');
  });

  it('ends at once when the call is cancelled [SCH-10] [WEB-16]', async () => {
    const cancel = new AbortController();
    const workers: Worker[] = [];
    const startRenderWorker = (options: object): Worker => {
      const worker = new Worker('for (;;) {}', { ...options, eval: true });
      workers.push(worker);
      return worker;
    };
    // Nothing but the cancellation can end it.
    const clock = { now: () => 0, after: () => () => undefined };
    const ports = { startRenderWorker, clock };
    const call = rendered('text/html', '<p>x', { signal: cancel.signal, ports });
    await eventually(() => workers.length === 1);
    cancel.abort();
    await expect(call).rejects.toMatchObject({ code: 'cancelled' });
    expect(workers[0]?.threadId).toBe(-1);
  });
});
