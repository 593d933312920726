import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createHash } from 'node:crypto';
import type { Plugin } from 'esbuild';

/** Where the addon lies inside its package, for the machine that bundles. */
function addonFile(packageFolder: string, name: string): string {
  const libc = process.platform === 'linux' && isMusl() ? '-musl' : '';
  return join(packageFolder, 'prebuilds', `${process.platform}-${process.arch}${libc}`, `${name}.node`);
}

function isMusl(): boolean {
  const report = process.report.getReport() as {
    readonly header?: { readonly glibcVersionRuntime?: string };
  };
  return report.header?.glibcVersionRuntime === undefined;
}

/**
 * The addon cannot be loaded from inside the binary. At first use it is written once to a folder of the user's, under
 * its own digest, and loaded from there.
 */
function loaderSource(asset: string, digest: string): string {
  return `
const { getRawAsset } = require('node:sea');
const { mkdirSync, writeFileSync, linkSync, rmSync, readFileSync } = require('node:fs');
const { createHash, randomUUID } = require('node:crypto');
const { join } = require('node:path');
const { homedir } = require('node:os');

const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const folder = join(base, 'agentd', 'native', ${JSON.stringify(digest)});
const file = join(folder, ${JSON.stringify(asset)});
const intact = () => {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex') === ${JSON.stringify(digest)};
  } catch {
    return false;
  }
};
if (!intact()) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = file + '.' + randomUUID();
  writeFileSync(draft, Buffer.from(getRawAsset(${JSON.stringify(asset)})), { mode: 0o500, flag: 'wx' });
  rmSync(file, { force: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
process.dlopen(module, file);
`;
}

/** An esbuild plugin that replaces the binding of `fs-native-extensions`, and the assets that it needs. */
export function nativeAddons(): {
  readonly plugin: Plugin;
  readonly assets: () => Readonly<Record<string, string>>;
} {
  const found = new Map<string, string>();
  const plugin: Plugin = {
    name: 'native-addons',
    setup: (build) => {
      build.onLoad({ filter: /fs-native-extensions[\\/]binding\.js$/ }, ({ path }) => {
        const manifest = createRequire(path)(join(dirname(path), 'package.json')) as {
          readonly name: string;
        };
        const file = addonFile(dirname(path), manifest.name);
        const asset = `${manifest.name}.node`;
        found.set(asset, file);
        const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
        return { contents: loaderSource(asset, digest), loader: 'js' };
      });
    },
  };
  return { plugin, assets: () => Object.fromEntries(found) };
}
