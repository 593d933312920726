// A process of its own for tests: it fetches URLs one after the other and tells what that cost.
import { readFileSync, writeFileSync } from 'node:fs';
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
  /** The highest resident memory of the last call, above what it was before. */
  readonly peakMb: number;
}

const loaded: string[] = [];
registerHooks({
  resolve: (specifier, context, next) => {
    loaded.push(specifier);
    return next(specifier, context);
  },
});

function statusKb(field: 'VmRSS' | 'VmHWM'): number {
  return Number(
    new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))?.[1],
  );
}

/** Resident memory; its peak counts from here, not from the start of the process, where compiling takes the most. */
function residentFromNowOn(): number {
  writeFileSync('/proc/self/clear_refs', '5');
  return statusKb('VmRSS');
}

const { urls, environment, raw } = (await json(process.stdin)) as FetchTask;
const { systemClock } = await import('@agentd/contract');
const { callTool, contextIn, textOf } = await import('../../testing/calls.ts');
const { createWebfetchTool } = await import('../webfetch-tool.ts');

const tool = createWebfetchTool({ environment, clock: systemClock });
const loadedEarly = loaded.filter((name) => ['got', 'html-to-text', 'htmlparser2', 'socks'].includes(name));
const texts: string[] = [];
let idleKb = 0;
for (const url of urls) {
  const completion = await callTool(tool, { url, raw }, contextIn('/'));
  texts.push(textOf(completion).slice(0, 300));
  if (texts.length === urls.length - 1) idleKb = residentFromNowOn();
}
const peakMb = (statusKb('VmHWM') - idleKb) / 1024;
const report: FetchReport = { loadedEarly, texts, peakMb };
process.stdout.write(JSON.stringify(report));
