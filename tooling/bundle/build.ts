// `npm run bundle`: one self-contained binary at dist/agentd (Node's single-executable application).
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { execa } from 'execa';
import { inject } from 'postject';
import { BUNDLE_OPTIONS, inlineWorkers } from './inline-workers.ts';
import { nativeAddons } from './native-addons.ts';
import { thirdPartyNotices } from './third-party-notices.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const OUT = join(ROOT, 'dist');
const WORK = join(OUT, '.bundle');

/** Names the section of the executable that holds the application; Node looks for exactly this. */
const SEA_FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes the one script; tells the assets that it needs beside it. */
async function bundle(main: string): Promise<Readonly<Record<string, string>>> {
  const addons = nativeAddons();
  const { metafile } = await build({
    metafile: true,
    absWorkingDir: ROOT,
    entryPoints: [join(ROOT, 'apps/agentd/src/main.ts')],
    outfile: main,
    ...BUNDLE_OPTIONS,
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': '__bundleUrl' },
    banner: { js: "const __bundleUrl = require('node:url').pathToFileURL(process.execPath).href;" },
    sourcemap: 'external',
    plugins: [addons.plugin, inlineWorkers],
  });
  writeFileSync(
    join(OUT, 'THIRD_PARTY_NOTICES.txt'),
    thirdPartyNotices(ROOT, packagePaths(Object.keys(metafile.inputs))),
  );
  return addons.assets();
}

/** What a plugin has loaded stands under its namespace, with an absolute path. */
const packagePaths = (inputs: readonly string[]): readonly string[] =>
  inputs.map((input) => relative(ROOT, resolve(ROOT, input.replace(/^koffi:/, ''))));

async function makeBinary(main: string, assets: Readonly<Record<string, string>>): Promise<string> {
  const blob = join(WORK, 'app.blob');
  const config = join(WORK, 'sea.json');
  writeFileSync(
    config,
    JSON.stringify({
      main,
      output: blob,
      assets,
      useCodeCache: true,
      useSnapshot: false,
      disableExperimentalSEAWarning: true,
      execArgv: ['--disable-warning=ExperimentalWarning'],
      execArgvExtension: 'none',
    }),
  );
  await execa(process.execPath, ['--experimental-sea-config', config], { cwd: ROOT, stdout: process.stderr });
  const draft = join(WORK, 'agentd');
  copyFileSync(process.execPath, draft);
  chmodSync(draft, 0o755);
  // Saves 18 MB where binutils is installed.
  await execa('strip', ['--strip-unneeded', draft], { reject: false });
  await inject(draft, 'NODE_SEA_BLOB', readFileSync(blob), { sentinelFuse: SEA_FUSE });
  return draft;
}

if (Number(process.versions.node.split('.')[0]) < 24)
  throw new Error('the binary is made with Node 24: use "npm run bundle"');
rmSync(WORK, { recursive: true, force: true });
mkdirSync(WORK, { recursive: true });
const main = join(WORK, 'main.cjs');
const assets = await bundle(main);
const binary = join(OUT, 'agentd');
renameSync(await makeBinary(main, assets), binary);
rmSync(WORK, { recursive: true });
console.log(`wrote ${binary}`);
