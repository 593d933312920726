import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Starts the worker thread of `render-worker.ts` with these options. */
export type StartRenderWorker = (options: WorkerOptions) => Worker;

/**
 * From the file beside this one, as source or as built. A program that is bundled into one file has no such file: it
 * bundles `render-worker.ts` by itself, keeps the result as text, and hands in
 * `(options) => new Worker(TEXT, { ...options, eval: true })`.
 */
export const startRenderWorker: StartRenderWorker = (options) => {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new Worker(new URL(`./render-worker.${extension}`, import.meta.url), options);
};
