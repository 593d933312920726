import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

export interface Manifest {
  readonly name: string;
  readonly private?: boolean;
  readonly packageManager?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export interface Member {
  /** Relative to the root, e.g. `packages/contract`. */
  readonly folder: string;
  readonly manifest: Manifest;
}

export const readJson = (path: string): unknown => JSON.parse(read(path));

/** The packages and applications of the workspace. */
export function members(): readonly Member[] {
  return globSync('{packages,apps}/*/package.json', { cwd: ROOT })
    .toSorted()
    .map((path) => ({ folder: dirname(path), manifest: readJson(path) as Manifest }));
}

/** Sources that ship: no tests, no test support. */
export function sources(): readonly string[] {
  return globSync('{packages,apps}/*/src/**/*.ts', { cwd: ROOT }).filter(
    (path) => !path.endsWith('.test.ts'),
  );
}
