import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAgents, type Agents } from './agents/load-agents.ts';
import type { PlaceOptions } from './cli/options.ts';
import { loadSettings, userConfigFile, workspaceConfigFile } from './config/load-settings.ts';
import type { Settings } from './config/settings.ts';
import { homeFolder, realWorkspace } from './home/home.ts';
import { projectOf, type Project } from './home/project.ts';

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

/** Reads settings and agents. Contract: writes nothing; throws one clear line for anything that is not right. */
export async function situate(options: PlaceOptions): Promise<Situation> {
  const home = homeFolder(options.home, process.env);
  const workspace = await realWorkspace(options.cwd ?? process.cwd());
  // In the folder that holds the home, .agentd is the home itself: the user's, whoever asks.
  const brings = join(workspace, '.agentd') !== home;
  const trusted = options.trust === true && brings;
  const settings = await loadSettings({
    userFile: userConfigFile(home),
    explicitFile: options.config ?? null,
    workspaceFile: trusted ? workspaceConfigFile(workspace) : null,
  });
  const agents = await loadAgents([
    userAgentFolder(home),
    ...(trusted ? [workspaceAgentFolder(workspace)] : []),
  ]);
  const skipped = brings && !trusted ? await skippedIn(workspace) : null;
  return { home, workspace, project: projectOf(home, workspace), settings, agents, skipped };
}

export function userAgentFolder(home: string): string {
  return join(home, 'agents');
}

function workspaceAgentFolder(workspace: string): string {
  return join(workspace, '.agentd', 'agents');
}

async function skippedIn(workspace: string): Promise<string | null> {
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
