import { defineTool, toolError, type PreparedCall, type Tool, type ToolCompletion } from '@agentd/contract';
import { z } from 'zod';
import type { Download, DownloadRequest } from './download.ts';
import type { FetchPorts } from './fetch-page.ts';
import { headerLines } from './page-text.ts';
import type { RenderLimits } from './render/render-apart.ts';
import { startRenderWorker, type StartRenderWorker } from './render/start-render-worker.ts';
import { cancelled, withinTime } from './time-limit.ts';
import { parseWebUrl } from './web-url.ts';

/** What `webfetch` asks of its surroundings. */
export interface WebfetchPorts extends FetchPorts {
  /** Where the worker that renders pages comes from; by default the file beside this one. A bundle hands in its own. */
  readonly startRenderWorker?: StartRenderWorker;
}

/** Limits that only tests change. */
export interface WebfetchLimits {
  /** For connecting, redirects and the body together (WEB-8). */
  readonly timeoutMs: number;
  /** For rendering (WEB-16). */
  readonly render: RenderLimits;
}

const LIMITS: WebfetchLimits = { timeoutMs: 30_000, render: { timeoutMs: 20_000, memoryMb: 1024 } };

const DESCRIPTION = [
  'Fetches a URL with GET and returns four header lines (final_url, status_code, content_type, truncated), an empty line, and the body as text.',
  'HTML comes as plain text with link targets in brackets, or as its source with raw: true; JSON, XML and other text as sent.',
  'Binary types are refused. Redirects are followed, HTTP error pages are results, 30 seconds are the limit, and a body over 16 MiB is cut.',
].join(' ');

const ARGUMENTS = z.strictObject({
  url: z.string().describe('The address; starts with lowercase http:// or https://.'),
  raw: z.boolean().default(false).describe('Whether HTML is returned as its source.'),
});

type WebfetchArguments = z.infer<typeof ARGUMENTS>;

/** The tool `webfetch`: one GET, its answer as text (WEB-1 to WEB-16). */
export function createWebfetchTool(ports: WebfetchPorts, limits: Partial<WebfetchLimits> = {}): Tool {
  const fetcher: Fetcher = { ports, limits: { ...LIMITS, ...limits } };
  return defineTool({
    name: 'webfetch',
    description: DESCRIPTION,
    schema: ARGUMENTS,
    action: 'webfetch',
    concurrency: 'parallel',
    prepare: async (args) => prepareFetch(args, fetcher),
  });
}

interface Fetcher {
  readonly ports: WebfetchPorts;
  readonly limits: WebfetchLimits;
}

function prepareFetch(args: WebfetchArguments, fetcher: Fetcher): PreparedCall {
  const start = parseWebUrl(args.url);
  return {
    permission: { action: 'webfetch', label: args.url },
    operation: { tool: 'webfetch', ...args },
    execute: async (_context, signal) => {
      const page = await fetchInTime({ start, raw: args.raw }, fetcher, signal);
      const text =
        page.kind === 'verbatim'
          ? page.result
          : headerLines(page) + (await renderedBody(page, fetcher, signal));
      return completion(args.url, page, text);
    },
  };
}

function fetchInTime(
  request: DownloadRequest,
  { ports, limits }: Fetcher,
  signal: AbortSignal,
): Promise<Download> {
  const expired = (): Error =>
    toolError(
      'timeout',
      `no complete answer within ${limits.timeoutMs / 1000} s; try again later, or fetch a smaller or faster address`,
    );
  return withinTime({ ms: limits.timeoutMs, clock: ports.clock, expired }, signal, async (stop) => {
    // The HTTP stack is loaded with the first call: whoever never fetches does not pay for it.
    const { download } = await import('./download.ts');
    return download(request, ports, stop);
  });
}

function completion(url: string, page: Download, text: string): ToolCompletion {
  return {
    output: { kind: 'single', text },
    metadata: {
      url,
      final_url: page.finalUrl,
      status_code: page.status,
      content_type: page.contentTypeHeader,
      truncated: page.truncated,
    },
  };
}

type HtmlDownload = Extract<Download, { readonly kind: 'html' }>;

async function renderedBody(
  page: HtmlDownload,
  { ports, limits }: Fetcher,
  signal: AbortSignal,
): Promise<string> {
  const [{ decodeHtml }, { renderApart }] = await Promise.all([
    import('./render/html-charset.ts'),
    import('./render/render-apart.ts'),
  ]);
  const html = decodeHtml(page.bytes, page.contentType.charset);
  const { essence } = page.contentType;
  const input = { html, url: page.finalUrl, isXhtml: essence === 'application/xhtml+xml' };
  const renderPorts = {
    startWorker: ports.startRenderWorker ?? startRenderWorker,
    clock: ports.clock,
    limits: limits.render,
  };
  try {
    const rendering = await renderApart(input, renderPorts, signal);
    return rendering.ok
      ? rendering.text
      : `[not rendered: ${rendering.problem}; this is the page's source]\n${html}`;
  } catch (error) {
    throw signal.aborted ? cancelled() : error;
  }
}
