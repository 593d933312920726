import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The licences of all packages that went into the bundle, as their terms ask. `inputs` are paths as the bundler names them. */
export function thirdPartyNotices(root: string, inputs: readonly string[]): string {
  const folders = new Set(
    inputs.flatMap((path) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []),
  );
  return [...folders]
    .map((folder) => noticeOf(join(root, folder)))
    .toSorted()
    .join('\n\n');
}

function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as PackageManifest;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const terms =
    file === undefined
      ? `Licence: ${license ?? 'not stated'}`
      : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${terms}\n`;
}
