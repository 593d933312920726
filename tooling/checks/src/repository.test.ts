import { describe, expect, it } from '@jest/globals';
import { dirname, join, relative } from 'node:path';
import { existsSync } from 'node:fs';
import { ROOT, members, read, readJson, sources, type Manifest } from './workspace.ts';

const root = readJson('package.json') as Manifest;

describe('versions that must agree', () => {
  it('names one pnpm everywhere', () => {
    const pinned = root.packageManager?.replace('pnpm@', '');
    const named = Object.values(root.scripts ?? {}).flatMap((script) => [...script.matchAll(/pnpm@(\S+)/g)]);
    const inScripts = named.map(([, version]) => version);
    const inLauncher = [...read('tooling/dev/agentd.mjs').matchAll(/pnpm@([\d.]+)/g)].map(
      ([, version]) => version,
    );
    const inCatalog = /^ {4}pnpm: (\S+)$/m.exec(read('pnpm-workspace.yaml'))?.[1];
    expect(pinned).toMatch(/^\d+\.\d+\.\d+$/);
    expect(new Set([...inScripts, ...inLauncher, inCatalog])).toEqual(new Set([pinned]));
  });

  it('pins every version of the catalogue exactly', () => {
    const entries = [...read('pnpm-workspace.yaml').matchAll(/^ +'?(@?[a-z][\w@/.-]*)'?: (\S+)$/gm)];
    const loose = entries.filter(([, , version]) => /^[~^<>*]|x$/.test(version ?? ''));
    expect(entries.length).toBeGreaterThan(20);
    expect(loose.map(([line]) => line)).toEqual([]);
  });

  it('takes third parties from the catalogue and our own packages from the workspace', () => {
    const loose = members().flatMap(({ folder, manifest }) =>
      Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
        .filter(([name, range]) =>
          name.startsWith('@agentd/') ? range !== 'workspace:*' : !range.startsWith('catalog:'),
        )
        .map(([name, range]) => `${folder}: ${name} ${range}`),
    );
    expect(loose).toEqual([]);
  });

  it('keeps hosts and tarball addresses out of the lock file', () => {
    expect(read('pnpm-lock.yaml').match(/^.*(?:https?:\/\/|tarball:).*$/gm) ?? []).toEqual([]);
  });
});

describe('the star', () => {
  it.each(members().filter(({ folder }) => folder.startsWith('packages/')))(
    'lets $folder rest on the contract alone',
    ({ manifest }) => {
      const own = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@agentd/'));
      expect(own).toEqual(manifest.name === '@agentd/contract' ? [] : ['@agentd/contract']);
    },
  );

  it.each(members())(
    'references in the compiler settings of $folder what it depends on',
    ({ folder, manifest }) => {
      const settings = readJson(`${folder}/tsconfig.json`) as {
        readonly references: readonly { readonly path: string }[];
      };
      const referenced = settings.references.map(({ path }) => relative(ROOT, join(ROOT, folder, path)));
      const folders = new Map(members().map((member) => [member.manifest.name, member.folder]));
      const depended = Object.keys(manifest.dependencies ?? {}).flatMap((name) => folders.get(name) ?? []);
      expect(referenced.toSorted()).toEqual(depended.toSorted());
    },
  );

  it('builds every package from the root', () => {
    const { references } = readJson('tsconfig.json') as {
      readonly references: readonly { readonly path: string }[];
    };
    expect(references.map(({ path }) => path)).toEqual(
      expect.arrayContaining(members().map(({ folder }) => folder)),
    );
  });

  it('composes in one file', () => {
    const composing = sources()
      .filter((path) => path.startsWith('apps/'))
      .filter((path) => /from '@agentd\/(?:engine\/file|artifact-store|core-tools)'/.test(read(path)));
    expect(composing).toEqual(['apps/agentd/src/compose.ts']);
  });
});

describe('rules that no linter has', () => {
  it.each([
    ['instanceof on an error, which fails between two copies and under Jest', /instanceof \w*Error\b/],
    ['export *, which hides what is promised', /^export \* from/m],
    ['an enum', /^(?:export )?(?:const )?enum /m],
    ['a default export', /^export default /m],
    ['a silenced check without a reason', /(?:oxlint|eslint)-disable(?!.* -- \S)|@ts-(?:ignore|nocheck)/],
  ])('finds no %s', (_what, pattern) => {
    expect(sources().filter((path) => pattern.test(read(path)))).toEqual([]);
  });

  it('finds no file named for nothing', () => {
    const vague = /\/(?:utils?|helpers?|types|common|misc)(?:\.ts|\/)/;
    expect(sources().filter((path) => vague.test(path))).toEqual([]);
  });

  it('finds a surface pin and a README in every package', () => {
    const without = members().flatMap(({ folder }) =>
      [
        `${folder}/README.md`,
        ...(folder.startsWith('packages/') ? [`${folder}/src/surface.test.ts`] : []),
      ].filter((path) => !existsSync(join(ROOT, path))),
    );
    expect(without).toEqual([]);
  });

  it('finds no dead link between documents', () => {
    const documents = [
      'README.md',
      'CONTRIBUTING.md',
      'AGENTS.md',
      'docs/architecture.md',
      ...members().map(({ folder }) => `${folder}/README.md`),
    ];
    const dead = documents.flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .map(([, target]) => join(dirname(path), target ?? ''))
        .filter((target) => !existsSync(join(ROOT, target)))
        .map((target) => `${path} → ${target}`),
    );
    expect(dead).toEqual([]);
  });
});
