import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Agents, builtInAgent, type LoadedAgent } from '../agents/load-agents.ts';
import { parseAgentDocument } from '../agents/parse-agent-document.ts';
import { settingsOf } from '../config/settings.ts';
import { projectOf } from '../home/project.ts';
import type { Situation } from '../situation.ts';
import { DEMO_AGENTS, demoScript, type DemoPaths } from './demo-script.ts';

/** Where the demo plays. Its folders are kept, so that one can look at them afterwards. */
export interface DemoStage {
  readonly situation: Situation;
  readonly paths: DemoPaths;
  /** How this agentd is called from a shell. */
  readonly command: string;
  /** Gives the embedded model its script, in which the root has this handle. */
  readonly writeScript: (handle: string) => Promise<void>;
}

export async function setStage(): Promise<DemoStage> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'agentd-demo-')));
  const home = join(base, 'home');
  const paths = { scratch: join(base, 'scratch'), forbidden: join(base, 'forbidden.txt') };
  await mkdir(home, { mode: 0o700 });
  await mkdir(paths.scratch);
  const script = join(home, 'demo.yaml');
  const checkout = checkoutAround(process.cwd()) ?? checkoutAround(import.meta.dirname);
  const workspace = checkout ?? (await smallProject(join(base, 'project')));
  const situation: Situation = {
    home,
    workspace: await realpath(workspace),
    project: projectOf(home, workspace),
    settings: settingsOf({ providers: { demo: { adaptor: 'scripted', script } } }),
    agents: new Agents([builtInAgent(), ...Object.entries(DEMO_AGENTS).map(demoAgent)]),
    skipped: null,
  };
  const writeScript = (handle: string): Promise<void> => writeFile(script, demoScript(paths, handle));
  return {
    situation,
    paths,
    writeScript,
    command: checkout === undefined ? 'agentd' : 'npm run -s agentd --',
  };
}

function demoAgent([id, text]: readonly [string, string]): LoadedAgent {
  return { document: parseAgentDocument(`${id}.md`, text), text, file: null };
}

/** The checkout of agentd that a folder belongs to. */
function checkoutAround(folder: string): string | undefined {
  if (
    existsSync(join(folder, 'apps/agentd/package.json')) &&
    existsSync(join(folder, 'pnpm-workspace.yaml'))
  ) {
    return folder;
  }
  const parent = dirname(folder);
  return parent === folder ? undefined : checkoutAround(parent);
}

/** Something to read where there is no checkout. */
async function smallProject(folder: string): Promise<string> {
  await mkdir(join(folder, 'src'), { recursive: true });
  await writeFile(
    join(folder, 'README.md'),
    '# Greeter\n\nSays hello to whoever asks.\n\nRun it with `node src/greet.js`.\n',
  );
  await writeFile(join(folder, 'src', 'greet.js'), "console.log('hello');\n");
  return folder;
}
