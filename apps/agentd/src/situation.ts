import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAgents, type Agents } from './agents/load-agents.ts';
import type { PlaceOptions } from './cli/options.ts';
import { loadSettings, userConfigFile, workspaceConfigFile } from './config/load-settings.ts';
import type { Settings } from './config/settings.ts';
import { homeFolder, realWorkspace } from './home/home.ts';
import { projectOf, type Project } from './home/project.ts';
import { catalogueFile } from './models/catalogue-file.ts';

/** Where a command finds itself: home, workspace, and what they configure. */
export interface Situation {
  readonly home: string;
  /** The real path of the working directory. */
  readonly workspace: string;
  readonly project: Project;
  readonly settings: Settings;
  readonly agents: Agents;
  /** What the workspace brings and nobody has trusted: one line, or null (PERM-11). */
  readonly skipped: string | null;
}

/** What settings and agents are read from. */
export interface Surroundings {
  readonly home: string;
  /** The real path of the working directory. */
  readonly workspace: string;
  /** `--config`. */
  readonly configFile: string | null;
  readonly workspaceBrings: 'nothing' | 'trusted' | 'untrusted';
}

/** Reads settings and agents. Contract: writes nothing; throws one clear line for anything that is not right. */
export async function situate(options: PlaceOptions): Promise<Situation> {
  const around = await surroundings(options);
  const { home, workspace } = around;
  const settings = await settingsIn(around);
  const agents = await agentsIn(around);
  const skipped = await skippedIn(around);
  return { home, workspace, project: projectOf(home, workspace), settings, agents, skipped };
}

export async function surroundings({ home: asked, cwd, config, trust }: PlaceOptions): Promise<Surroundings> {
  const home = homeFolder(asked, process.env);
  const workspace = await realWorkspace(cwd ?? process.cwd());
  // In the folder that holds the home, .agentd is the home itself: the user's, whoever asks.
  const own = join(workspace, '.agentd') === home;
  const workspaceBrings = own ? 'nothing' : trust === true ? 'trusted' : 'untrusted';
  return { home, workspace, configFile: config ?? null, workspaceBrings };
}

export function settingsIn({
  home,
  workspace,
  configFile,
  workspaceBrings,
}: Surroundings): Promise<Settings> {
  return loadSettings({
    userFile: userConfigFile(home),
    explicitFile: configFile,
    workspaceFile: workspaceBrings === 'trusted' ? workspaceConfigFile(workspace) : null,
    catalogueFile: catalogueFile(home),
  });
}

export function agentsIn({ home, workspace, workspaceBrings }: Surroundings): Promise<Agents> {
  return loadAgents([
    userAgentFolder(home),
    ...(workspaceBrings === 'trusted' ? [workspaceAgentFolder(workspace)] : []),
  ]);
}

function userAgentFolder(home: string): string {
  return join(home, 'agents');
}

function workspaceAgentFolder(workspace: string): string {
  return join(workspace, '.agentd', 'agents');
}

/** One line about what the workspace brings and nobody has trusted, or null. */
export async function skippedIn({ workspace, workspaceBrings }: Surroundings): Promise<string | null> {
  if (workspaceBrings !== 'untrusted') return null;
  const brought = [workspaceConfigFile(workspace), workspaceAgentFolder(workspace)];
  const found = await Promise.all(brought.map(exists));
  const names = brought.filter((_, index) => found[index]);
  if (names.length === 0) return null;
  return `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not trusted: skipped (use --trust for this run)`;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
