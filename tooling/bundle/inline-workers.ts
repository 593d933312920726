import { build, type BuildOptions, type Plugin } from 'esbuild';
import { dirname, join } from 'node:path';

/** How a script of ours is bundled: for Node 24, from source, as CommonJS. */
export const BUNDLE_OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  // A single-executable application of Node 24 starts from CommonJS only.
  format: 'cjs',
  conditions: ['@agentd/source'],
  legalComments: 'none',
  minifySyntax: true,
  minifyWhitespace: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/** An esbuild plugin: the worker that renders pages becomes a text in the one file, since there is no file beside it. */
export const inlineWorkers: Plugin = {
  name: 'inline-workers',
  setup: (bundling) => {
    bundling.onLoad({ filter: /[\\/]render[\\/]start-render-worker\.ts$/ }, async ({ path }) => {
      const entry = join(dirname(path), 'render-worker.ts');
      const { outputFiles } = await build({ ...BUNDLE_OPTIONS, entryPoints: [entry], write: false });
      const script = JSON.stringify(outputFiles[0]?.text);
      return {
        contents: `import { Worker } from 'node:worker_threads';
const script = ${script};
export const startRenderWorker = (options) => new Worker(script, { ...options, eval: true });`,
        loader: 'js',
      };
    });
  },
};
