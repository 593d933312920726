import { collectArtifacts, type Collection } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { homeFolder, realWorkspace } from '../../home/home.ts';
import { projectOf, projectsOf } from '../../home/project.ts';
import type { DataOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import type { Screen } from '../screen.ts';

export interface CollectOptions extends DataOptions {
  readonly home?: string;
  readonly cwd?: string;
  readonly dryRun?: boolean;
  readonly list?: boolean;
}

type Collected = Extract<Collection, { kind: 'collected' }>;
type Fate = keyof Collected['tallies'];

const REASONS: Readonly<Record<Fate, string>> = {
  removed: 'nothing refers to it',
  referenced: 'a session refers to it',
  recent: 'nothing refers to it, for less than an hour',
  undeletable: 'it could not be removed',
};

/** `artifacts gc`: removes stored output that no session refers to, and says what it removed and kept, and why (ART-9). */
export async function collectGarbage(options: CollectOptions, screen: Screen): Promise<number> {
  const home = homeFolder(options.home, process.env);
  const projects =
    options.cwd === undefined ? await projectsOf(home) : [projectOf(home, await realWorkspace(options.cwd))];
  const asked = { dryRun: options.dryRun === true, list: options.list === true };
  const passes: { readonly project: string; readonly result: Collection }[] = [];
  for (const project of projects) {
    passes.push({ project: project.key, result: await collectArtifacts(project, asked, screen.closed) });
  }
  if (options.json === true) {
    screen.print(
      `${JSON.stringify(
        passes.map(({ project, result }) => ({ project, ...dataOf(result) })),
        null,
        2,
      )}\n`,
    );
  } else {
    for (const { project, result } of passes) tell(project, result, screen);
    if (passes.length === 0) screen.tell('no projects yet');
  }
  return passes.some(({ result }) => result.kind === 'failed') ? EXIT.failed : EXIT.completed;
}

function dataOf(result: Collection): object {
  if (result.kind !== 'collected') return result;
  const { kind, dryRun, tallies, blobs } = result;
  const { removed, ...kept } = tallies;
  const each = blobs?.map(({ digest, byteLength, fate }) => ({
    uri: `artifact://${digest}`,
    bytes: byteLength,
    fate,
  }));
  return { kind, dry_run: dryRun, removed, kept, ...(each === undefined ? {} : { artifacts: each }) };
}

function tell(project: string, result: Collection, screen: Screen): void {
  if (result.kind === 'collected') return printCollected(project, result, screen);
  const what = result.kind === 'skipped' ? 'skipped for now' : 'nothing was removed';
  screen.tell(`${project}: ${what}: ${result.reason}`);
}

function printCollected(project: string, { dryRun, tallies, blobs }: Collected, screen: Screen): void {
  const fates: readonly Fate[] = ['removed', 'referenced', 'recent', 'undeletable'];
  screen.print(`${project}\n`);
  const rows = fates
    .filter((fate) => fate === 'removed' || tallies[fate].count > 0)
    .map((fate) => {
      const { count, bytes } = tallies[fate];
      return [`  ${verb(fate, dryRun)}`, `${count} artifacts`, `${bytes} bytes`, REASONS[fate]];
    });
  printRows(screen, rows);
  printRows(
    screen,
    (blobs ?? []).map(({ digest, byteLength, fate }) => [
      `  artifact://${digest}`,
      `${byteLength} bytes`,
      `${verb(fate, dryRun)}: ${REASONS[fate]}`,
    ]),
  );
}

function verb(fate: Fate, dryRun: boolean): string {
  if (fate !== 'removed') return 'kept';
  return dryRun ? 'would remove' : 'removed';
}
