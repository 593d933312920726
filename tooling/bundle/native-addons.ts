import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Plugin, PluginBuild } from 'esbuild';
import { unpackingSource } from './unpacking-source.ts';

/** The files of addons by the name under which the binary carries them. */
type Assets = Map<string, string>;

function isMusl(): boolean {
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return process.platform === 'linux' && report.header?.glibcVersionRuntime === undefined;
}

/** Source that writes the addon to the user's cache, where it is not there yet, and names it `file` and `folder`. */
function unpacking(assets: Assets, file: string, path: string): string {
  const asset = path.replaceAll('/', '-');
  assets.set(asset, file);
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
  return unpackingSource({ asset, digest, path });
}

function carryLocks(build: PluginBuild, assets: Assets): void {
  build.onLoad({ filter: /fs-native-extensions[\\/]binding\.js$/ }, ({ path }) => {
    const prebuilt = `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`;
    const file = join(dirname(path), 'prebuilds', prebuilt, 'fs-native-extensions.node');
    const source = unpacking(assets, file, 'fs-native-extensions.node');
    return { contents: `${source}\nprocess.dlopen(module, file);`, loader: 'js' };
  });
}

/** koffi looks for its addon below `process.resourcesPath` when it is imported as `koffi/indirect`. */
function carryKoffi(build: PluginBuild, assets: Assets): void {
  build.onResolve({ filter: /^koffi$/ }, async ({ resolveDir }) => {
    const { path, errors } = await build.resolve('koffi/indirect', { resolveDir, kind: 'require-call' });
    return { path, errors, namespace: 'koffi' };
  });
  build.onLoad({ filter: /.*/, namespace: 'koffi' }, ({ path }) => {
    const platform = `@koromix/koffi-${process.platform}-${process.arch}`;
    const folder = `${isMusl() ? 'musl' : process.platform}_${process.arch}`;
    const file = join(dirname(createRequire(path).resolve(platform)), folder, 'koffi.node');
    const source = unpacking(assets, file, `koffi/${folder}/koffi.node`);
    const load = `const koffi = require(${JSON.stringify(path)});\nmodule.exports = koffi.default ?? koffi;`;
    return {
      contents: `${source}\nprocess.resourcesPath = folder;\n${load}`,
      loader: 'js',
      resolveDir: dirname(path),
    };
  });
}

/** An esbuild plugin that lets the binary carry its native addons, and the assets that it then needs. */
export function nativeAddons(): {
  readonly plugin: Plugin;
  readonly assets: () => Readonly<Record<string, string>>;
} {
  const assets: Assets = new Map();
  const plugin: Plugin = {
    name: 'native-addons',
    setup: (build) => {
      carryLocks(build, assets);
      carryKoffi(build, assets);
    },
  };
  return { plugin, assets: () => Object.fromEntries(assets) };
}
