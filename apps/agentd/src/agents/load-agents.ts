import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf } from '@agentd/contract';
import type { AgentDocument } from '@agentd/engine';
import { nearest } from '../near-match.ts';
import { setUpError } from '../faults.ts';
import { DEFAULT_AGENT } from './default-agent.ts';
import { parseAgentDocument } from './parse-agent-document.ts';

/** An agent document and the text it was read from. */
export interface LoadedAgent {
  readonly document: AgentDocument;
  readonly text: string;
  /** The file, or null for the built-in one. */
  readonly file: string | null;
}

export const DEFAULT_AGENT_ID = 'default';

/** The built-in agent: what serves when there is no document (PERM-5). */
export function builtInAgent(): LoadedAgent {
  const document = parseAgentDocument(`${DEFAULT_AGENT_ID}.md`, DEFAULT_AGENT);
  return { document, text: DEFAULT_AGENT, file: null };
}

/** All agents in force, the user's first, replaced by id by the workspace's (CFG-1). Never empty. */
export class Agents {
  readonly #agents: ReadonlyMap<string, LoadedAgent>;

  constructor(documents: readonly LoadedAgent[]) {
    const agents = documents.length === 0 ? [builtInAgent()] : documents;
    this.#agents = new Map(agents.map((agent) => [agent.document.id, agent]));
  }

  readonly find = (id: string): AgentDocument | undefined => this.#agents.get(id)?.document;

  readonly ids = (): readonly string[] => [...this.#agents.keys()];

  get all(): readonly LoadedAgent[] {
    return [...this.#agents.values()];
  }

  /** Contract: throws one line that lists the agents, and a near match, for an unknown id. */
  require(id: string): LoadedAgent {
    const agent = this.#agents.get(id);
    if (agent !== undefined) return agent;
    const near = nearest(id, this.ids());
    const hint = near === undefined ? '' : `; did you mean "${near}"?`;
    throw setUpError(`unknown agent "${id}"${hint} (agents: ${this.ids().join(', ')})`);
  }

  /** The agent of a root run: the one asked for, else `default`, else the only one that may be primary. */
  choose(asked: string | undefined): AgentDocument {
    if (asked !== undefined) return primary(this.require(asked).document);
    const byName = this.find(DEFAULT_AGENT_ID);
    if (byName !== undefined) return primary(byName);
    const candidates = this.all.map(({ document }) => document).filter(({ mode }) => mode !== 'subagent');
    const [only, ...others] = candidates;
    if (only !== undefined && others.length === 0) return only;
    const ids = candidates.map(({ id }) => id).join(', ');
    throw setUpError(
      only === undefined
        ? `no agent may run as a root: all of ${this.ids().join(', ')} have mode "subagent"`
        : `several agents may run: choose one with --agent (${ids}), or name one of them "default"`,
    );
  }
}

function primary(document: AgentDocument): AgentDocument {
  if (document.mode !== 'subagent') return document;
  throw setUpError(`agent "${document.id}" has mode "subagent": it cannot run as a root`);
}

/** Reads the documents of the folders; a later folder's replaces an earlier one's of the same id. */
export async function loadAgents(folders: readonly string[]): Promise<Agents> {
  const loaded = new Map<string, LoadedAgent>();
  for (const folder of folders) {
    for (const agent of await readFolder(folder)) loaded.set(agent.document.id, agent);
  }
  return new Agents([...loaded.values()]);
}

async function readFolder(folder: string): Promise<readonly LoadedAgent[]> {
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.md')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const text = await readFile(file, 'utf8').catch((error: unknown) => {
        throw setUpError(`${file}: cannot be read: ${messageOf(error)}`, { cause: error });
      });
      return { document: parseAgentDocument(file, text), text, file };
    }),
  );
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw setUpError(`${folder}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
