// A process of its own for tests: it fetches URLs one after the other and tells what that cost.
import { registerHooks } from 'node:module';
import { json } from 'node:stream/consumers';

export interface FetchTask {
  readonly urls: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly raw: boolean;
}

export interface FetchReport {
  /** Packages that were loaded before the first call. */
  readonly loadedEarly: readonly string[];
  /** The text of each result, at most its first 300 characters. */
  readonly texts: readonly string[];
  /** The highest resident memory, above what it was before the last call. */
  readonly peakMb: number;
}

const loaded: string[] = [];
registerHooks({
  resolve: (specifier, context, next) => {
    loaded.push(specifier);
    return next(specifier, context);
  },
});

const { urls, environment, raw } = (await json(process.stdin)) as FetchTask;
const { systemClock } = await import('@agentd/contract');
const { callTool, contextIn, textOf } = await import('../../testing/calls.ts');
const { createWebfetchTool } = await import('../webfetch-tool.ts');

const tool = createWebfetchTool({ environment, clock: systemClock });
const loadedEarly = loaded.filter((name) => ['got', 'html-to-text', 'htmlparser2', 'socks'].includes(name));
const texts: string[] = [];
let idle = 0;
for (const url of urls) {
  const completion = await callTool(tool, { url, raw }, contextIn('/'));
  texts.push(textOf(completion).slice(0, 300));
  if (texts.length === urls.length - 1) idle = process.memoryUsage.rss();
}
const peakMb = process.resourceUsage().maxRSS / 1024 - idle / 1024 ** 2;
const report: FetchReport = { loadedEarly, texts, peakMb };
process.stdout.write(JSON.stringify(report));
