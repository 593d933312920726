import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { mkdtemp, open, rm, utimes, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inTurn, median, ms, timeRun } from './measure.ts';
import type { ToolFigures, ToolTask } from './tool-process.ts';

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, 'tool-process.ts');

async function toolProcess(task: ToolTask): Promise<ToolFigures> {
  const { stdout } = await run(process.execPath, [SCRIPT, JSON.stringify(task)]);
  return JSON.parse(stdout) as ToolFigures;
}

async function timed(file: string, args: readonly string[]): Promise<number> {
  const { wallMs, exitCode, stderr } = await timeRun([file, ...args]);
  if (exitCode !== 0) throw new Error(`${file} failed: ${stderr}`);
  return wallMs;
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-bench-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const LINE_BYTES = 80;

/** A log of numbered lines of 80 bytes. */
async function writeLog(path: string, lines: number): Promise<void> {
  const handle = await open(path, 'w');
  const step = 10_000;
  for (let first = 1; first <= lines; first += step) {
    const part = Array.from(
      { length: step },
      (_, index) => `${`line ${first + index}`.padEnd(LINE_BYTES - 1, '.')}\n`,
    );
    await handle.write(part.join(''));
  }
  await handle.close();
}

const memory = (runs: readonly ToolFigures[]): string => {
  const peak = Math.max(...runs.map(({ peakRssMib }) => peakRssMib));
  const grown = Math.max(...runs.map(({ peakRssMib, startRssMib }) => peakRssMib - startRssMib));
  return `memory: peak ${peak.toFixed(0)} MiB, ${grown.toFixed(0)} MiB above the process before its calls`;
};

const ratio = (value: number, base: number): string => `${(value / base).toFixed(2)} times`;

/** 100 lines at line 2,000,000 of a 200 MB file, the first and the second time, against `sed -n`. */
export function readPage(): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const path = join(folder, 'large.log');
    await writeLog(path, 2_500_000);
    await utimes(path, 1, 1);
    // Only a file that did not change for two seconds is remembered.
    await pause(2_100);
    const read = { tool: 'read', args: { filePath: path, offset: 2_000_000, limit: 100 } };
    const pairs = await inTurn(
      5,
      () => toolProcess({ cwd: folder, calls: [read, read] }),
      () => timed('sed', ['-n', '2000001,2000100p;2000100q', path]),
    );
    const runs = pairs.map(([figures]) => figures);
    const [first, second] = [0, 1].map((nth) => median(runs.map(({ wallMs }) => wallMs[nth] ?? Number.NaN)));
    const sed = median(pairs.map(([, wallMs]) => wallMs));
    if (first === undefined || second === undefined) throw new Error('no figures');
    return [
      `sed -n ${ms(sed)}; read the first time ${ms(first)} (${ratio(first, sed)}), the second ${ms(second)} (${ratio(second, sed)})`,
      memory(runs),
    ];
  });
}

/** One place in a 20 MB file, against `sed -i`, without and with the sync that an edit does. */
export function editLarge(): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const [path, other] = [join(folder, 'edited.log'), join(folder, 'sed.log')];
    for (const file of [path, other]) await writeLog(file, 250_000);
    const [from, to] = ['line 200000.', 'LINE 200000.'];
    const edits = [
      { tool: 'edit', args: { filePath: path, oldString: from, newString: to } },
      { tool: 'edit', args: { filePath: path, oldString: to, newString: from } },
    ];
    const sed = (script: string): Promise<number> => timed('bash', ['-c', script, 'bash', other]);
    const pairs = await inTurn(
      5,
      () => toolProcess({ cwd: folder, calls: edits }),
      async () => [
        await sed('sed -i "s/^line 200000\\./LINE 200000./" "$1"'),
        await sed('sed -i "s/^LINE 200000\\./line 200000./" "$1" && sync "$1"'),
      ],
    );
    const runs = pairs.map(([figures]) => figures);
    const edit = median(runs.flatMap(({ wallMs }) => wallMs));
    const [plain, synced] = [0, 1].map((nth) => median(pairs.map(([, wallMs]) => wallMs[nth] ?? Number.NaN)));
    if (plain === undefined || synced === undefined) throw new Error('no figures');
    return [
      `sed -i ${ms(plain)}, with sync ${ms(synced)}; edit ${ms(edit)} (${ratio(edit, plain)} and ${ratio(edit, synced)})`,
      memory(runs),
    ];
  });
}

/** 1,000 calls of `bash` with the command `true`, against 1,000 plain spawns. */
export function bashCalls(): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const task = (tool: string): ToolTask => ({
      cwd: folder,
      calls: [{ tool, args: { command: 'true' } }],
      repeat: 1000,
    });
    const plain = await toolProcess(task('plain:spawn'));
    const tool = await toolProcess(task('bash'));
    const total = ({ wallMs }: ToolFigures): number => wallMs.reduce((sum, value) => sum + value, 0);
    return [
      `1,000 spawns ${ms(total(plain))}, median ${ms(median(plain.wallMs))}; calls ${ms(total(tool))}, median ${ms(median(tool.wallMs))} (${ratio(total(tool), total(plain))})`,
      `${memory([tool])}; of the plain spawns: peak ${plain.peakRssMib.toFixed(0)} MiB`,
      `processes left at the end: ${tool.children}, the one that guards commands`,
    ];
  });
}

const PAGE_BYTES = 1_000_000;

/** A page as manuals have them: headings, paragraphs with links, lists, code and tables, up to a megabyte. */
function manualPage(): string {
  const parts = [
    '<!doctype html><html><head><title>Manual</title><style>p { margin: 0 }</style></head><body>',
  ];
  for (let part = 1, bytes = 0; bytes < PAGE_BYTES; part++) {
    const sentence = `Section ${part} tells how <code>option-${part}</code> works with <a href="/ref/${part}#top">its reference</a> &amp; more. `;
    const rows = Array.from(
      { length: 5 },
      (_, row) => `<tr><td>key-${part}-${row}</td><td>a value &lt;${row}&gt;</td><td><b>yes</b></td></tr>`,
    );
    const section = `<section><h2 id="s${part}">Option ${part}</h2><p>${sentence.repeat(6)}</p><ul><li>one</li><li>two <em>of</em> three</li></ul><pre>set option-${part} = ${part}\n  and go on</pre><table><tr><th>Name</th><th>Value</th><th>Set</th></tr>${rows.join('')}</table></section>`;
    parts.push(section);
    bytes += section.length;
  }
  return [...parts, '</body></html>'].join('\n');
}

/** A page of 1 MB fetched from the loopback and rendered, against html-to-text alone on the same bytes. */
export function renderPage(): Promise<readonly string[]> {
  return inFolder(async (folder) => {
    const html = manualPage();
    const file = join(folder, 'page.html');
    await writeFile(file, html);
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const fetch = { tool: 'webfetch', args: { url: `http://127.0.0.1:${port}/` } };
    const alone = { tool: 'plain:html-to-text', args: { file } };
    const pairs = await inTurn(
      5,
      () => toolProcess({ cwd: folder, calls: [fetch, fetch] }),
      () => toolProcess({ cwd: folder, calls: [alone, alone] }),
    ).finally(() => server.close());
    const [ours, plain] = [pairs.map(([figures]) => figures), pairs.map(([, figures]) => figures)];
    return [
      renderingLine('first', ours, plain),
      renderingLine('second', ours, plain),
      memory(ours),
      `of html-to-text alone, ${memory(plain)}`,
    ];
  });
}

function renderingLine(
  which: 'first' | 'second',
  ours: readonly ToolFigures[],
  plain: readonly ToolFigures[],
): string {
  const [fetch, alone] = [ours, plain].map((runs) =>
    median(runs.map(({ wallMs: [first, second] }) => (which === 'first' ? first : second) ?? Number.NaN)),
  );
  if (fetch === undefined || alone === undefined) throw new Error('no figures');
  return `the ${which} time: html-to-text ${ms(alone)}, webfetch ${ms(fetch)} (${ratio(fetch, alone)})`;
}
