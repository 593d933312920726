import { join } from 'node:path';
import { messageOf } from '@agentd/contract';
import { loadAgents, type Agents } from './agents/load-agents.ts';
import type { PlaceOptions } from './cli/options.ts';
import { loadSettings, userConfigFile, workspaceConfigFile } from './config/load-settings.ts';
import type { Settings } from './config/settings.ts';
import { homeFolder, realWorkspace } from './home/home.ts';
import { projectOf, type Project } from './home/project.ts';
import { serversIn, type ServersInForce } from './mcp-servers/servers-in.ts';
import { catalogueFile } from './models/catalogue-file.ts';
import { broughtBy, type Brought } from './trust/brought-files.ts';
import { trustStore } from './trust/trust-store.ts';

/** Where a command finds itself: home, workspace, and what they configure. */
export interface Situation {
  readonly home: string;
  /** The real path of the working directory. */
  readonly workspace: string;
  readonly project: Project;
  readonly settings: Settings;
  readonly agents: Agents;
  /** Absent for none. */
  readonly mcpServers?: ServersInForce;
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
  /** What the workspace brings and nobody has trusted: one line, or null (PERM-11). */
  readonly skipped: string | null;
}

/** Reads settings and agents. Contract: writes nothing; throws one clear line for anything that is not right. */
export async function situate(options: PlaceOptions): Promise<Situation> {
  const around = await surroundings(options);
  const { home, workspace } = around;
  const settings = await settingsIn(around);
  const agents = await agentsIn(around);
  const mcpServers = await serversIn(around, settings);
  const { skipped } = around;
  return { home, workspace, project: projectOf(home, workspace), settings, agents, mcpServers, skipped };
}

export async function surroundings({ home: asked, cwd, config, trust }: PlaceOptions): Promise<Surroundings> {
  const home = homeFolder(asked, process.env);
  const workspace = await realWorkspace(cwd ?? process.cwd());
  // In the folder that holds the home, .agentd is the home itself: the user's, whoever asks.
  const isOwn = join(workspace, '.agentd') === home;
  const place = { home, workspace, configFile: config ?? null };
  if (isOwn) return { ...place, workspaceBrings: 'nothing', skipped: null };
  if (trust === true) return { ...place, workspaceBrings: 'trusted', skipped: null };
  return { ...place, ...(await trustIn(home, workspace)) };
}

/** Whether what the workspace brings is what the user trusted (PERM-11). */
async function trustIn(
  home: string,
  workspace: string,
): Promise<Pick<Surroundings, 'workspaceBrings' | 'skipped'>> {
  let brought: Brought | null;
  try {
    brought = await broughtBy(workspace);
  } catch (error) {
    // Who did not ask for it must not be kept from working by what a workspace holds.
    return {
      workspaceBrings: 'untrusted',
      skipped: `${messageOf(error)}: what the workspace brings is skipped`,
    };
  }
  if (brought === null) return { workspaceBrings: 'nothing', skipped: null };
  const trusted = await trustStore(home).digestOf(workspace);
  if (trusted === brought.digest) return { workspaceBrings: 'trusted', skipped: null };
  const { places } = brought;
  const subject = `${places.join(' and ')} ${places.length > 1 ? 'are' : 'is'}`;
  const fault = trusted === null ? 'not trusted' : 'no longer what you trusted';
  const remedy = 'look at it and run "agentd trust", or use --trust for this run';
  return { workspaceBrings: 'untrusted', skipped: `${subject} ${fault}: skipped (${remedy})` };
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
