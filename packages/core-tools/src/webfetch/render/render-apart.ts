import { messageOf, type Clock } from '@agentd/contract';
import type { Worker } from 'node:worker_threads';
import type { HtmlPage } from './render-html.ts';
import type { StartRenderWorker } from './start-render-worker.ts';

export type Rendering =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Bounds of one rendering (WEB-16). */
export interface RenderLimits {
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

export interface RenderPorts {
  readonly startWorker: StartRenderWorker;
  readonly clock: Clock;
  readonly limits: RenderLimits;
}

/** Tables can come out far larger than they went in. In characters. */
const LONGEST_TEXT = 16 * 1024 * 1024;

/** Renders in a worker thread of its own. A page that passes a limit is a problem, never an error; an abort rejects. */
export async function renderApart(
  page: HtmlPage,
  ports: RenderPorts,
  signal: AbortSignal,
): Promise<Rendering> {
  signal.throwIfAborted();
  let worker: Worker;
  try {
    worker = ports.startWorker({
      workerData: page,
      resourceLimits: { maxOldGenerationSizeMb: ports.limits.memoryMb },
      // The flags and variables of this process may be meant for its main thread alone.
      execArgv: [],
      stdout: true,
      stderr: true,
    });
  } catch (error) {
    return { ok: false, problem: `the renderer did not start: ${messageOf(error)}` };
  }
  try {
    return await outcomeOf(worker, ports, signal);
  } finally {
    await worker.terminate();
  }
}

function outcomeOf(worker: Worker, { clock, limits }: RenderPorts, signal: AbortSignal): Promise<Rendering> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => settle(() => reject(signal.reason));
    const cancel = clock.after(limits.timeoutMs, () =>
      settle(() =>
        resolve({ ok: false, problem: `rendering took longer than ${limits.timeoutMs / 1000} s` }),
      ),
    );
    const settle = (end: () => void): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      end();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    worker.once('message', (text: string) => settle(() => resolve(checked(text))));
    // More than one error may follow; after the first they tell nothing, but must not go uncaught.
    worker.on('error', (error) => settle(() => resolve({ ok: false, problem: failureText(error, limits) })));
    worker.once('exit', () =>
      settle(() => resolve({ ok: false, problem: 'the renderer ended without a text' })),
    );
  });
}

function checked(text: string): Rendering {
  if (text.length <= LONGEST_TEXT) return { ok: true, text };
  return { ok: false, problem: `its rendered text has ${text.length} characters, more than ${LONGEST_TEXT}` };
}

function failureText(error: unknown, { memoryMb }: RenderLimits): string {
  const isMemory = (error as { readonly code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory ? `rendering needs more than ${memoryMb} MiB of memory` : messageOf(error);
}
