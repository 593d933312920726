import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomIds } from '@agentd/contract';
import type { EngineEvent, RunInit, Session, StartedRun } from '@agentd/engine';
import { Agents, type LoadedAgent } from '../../src/agents/load-agents.ts';
import { parseAgentDocument } from '../../src/agents/parse-agent-document.ts';
import { compose, openSessions, type App, type ComposeChoices } from '../../src/compose.ts';
import type { ConfigLayer } from '../../src/config/config-schema.ts';
import { settingsOf } from '../../src/config/settings.ts';
import { prepareHome } from '../../src/home/home.ts';
import { projectOf } from '../../src/home/project.ts';
import type { Situation } from '../../src/situation.ts';

export interface TreeBenchInit {
  /** `agents:` of the script, in YAML without indentation. */
  readonly script: string;
  /** Permissions by agent id, in YAML on one line; `default` is primary, all others subagents. */
  readonly agents: Readonly<Record<string, string>>;
  readonly config?: ConfigLayer;
}

/** A run of the root with everything that the tree showed. */
export interface RootRun {
  readonly app: App;
  readonly session: Session;
  readonly started: StartedRun;
  readonly events: readonly EngineEvent[];
}

/** The composed engine in this process: the scripted model, real files, real tools. */
export class TreeBench implements AsyncDisposable {
  readonly workspace: string;
  readonly situation: Situation;
  readonly #folder: string;
  readonly #apps: App[] = [];

  private constructor(folder: string, situation: Situation) {
    this.#folder = folder;
    this.workspace = situation.workspace;
    this.situation = situation;
  }

  static async create({ script, agents, config = {} }: TreeBenchInit): Promise<TreeBench> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'agentd-tree-')));
    const home = join(folder, 'home');
    const workspace = join(folder, 'ws');
    await mkdir(workspace);
    await prepareHome(home);
    const file = join(folder, 'script.yaml');
    await writeFile(file, `agents:\n${script.replaceAll(/^(?=.)/gm, '  ')}`);
    const providers = { test: { adaptor: 'scripted', script: file } } as const;
    const situation: Situation = {
      home,
      workspace,
      project: projectOf(home, workspace),
      settings: settingsOf({ ...config, providers }),
      agents: new Agents(Object.entries(agents).map(([id, permissions]) => loaded(id, permissions))),
      skipped: null,
    };
    return new TreeBench(folder, situation);
  }

  compose(choices: ComposeChoices = {}): App {
    const app = compose(this.situation, choices);
    this.#apps.push(app);
    return app;
  }

  /** A new root session with its first run. */
  async start(run: Partial<RunInit> = {}, choices: ComposeChoices = {}): Promise<RootRun> {
    const app = this.compose(choices);
    const events: EngineEvent[] = [];
    const session = await app.engine.createSession({
      cwd: this.workspace,
      agent: 'default',
      mode: 'yolo',
      listener: { event: (event) => events.push(event) },
    });
    // Children are told whom to write to by a prompt that passes the root's on.
    const started = await session.startRun(rootRun({ input: session.handle, ...run }));
    return { app, session, started, events };
  }

  /** The session in a new engine, as after a restart. */
  async reopen(sessionId: string, choices: ComposeChoices = {}): Promise<Omit<RootRun, 'started'>> {
    const app = this.compose(choices);
    const events: EngineEvent[] = [];
    const session = await app.engine.openSession(sessionId, { event: (event) => events.push(event) });
    return { app, session, events };
  }

  /** Whether the workspace has a file of this name. */
  async has(name: string): Promise<boolean> {
    return access(join(this.workspace, name)).then(
      () => true,
      () => false,
    );
  }

  /** The whole lines of a file of the workspace as numbers; none where it is missing. */
  async numbersIn(name: string): Promise<readonly number[]> {
    const text = await readFile(join(this.workspace, name), 'utf8').catch(() => '');
    return text.split('\n').slice(0, -1).map(Number);
  }

  /** The same, until the tree is quiet. */
  async play(run: Partial<RunInit> = {}, choices: ComposeChoices = {}): Promise<RootRun> {
    const played = await this.start(run, choices);
    await played.session.quiet();
    return played;
  }

  /** What the log of a session holds, read as another process would. */
  async eventsOf(sessionId: string): Promise<readonly EngineEvent[]> {
    const { events } = await openSessions(this.situation.project).read(sessionId);
    return events as readonly EngineEvent[];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { engine } of this.#apps) await engine.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

export function rootRun(run: Partial<RunInit> = {}): RunInit {
  const usual = { clientRunId: randomIds.uuid(), input: 'go', models: ['test/m'] };
  return { ...usual, maxTurns: 50, timeoutMs: 60_000, ...run };
}

function loaded(id: string, permissions: string): LoadedAgent {
  const mode = id === 'default' ? 'primary' : 'subagent';
  const text = `---\ndescription: Plays ${id}.\nmode: ${mode}\npermissions: ${permissions}\n---\nYou play ${id}.\n`;
  return { document: parseAgentDocument(`${id}.md`, text), text, file: null };
}

/** The sessions of a tree by handle's agent, in order of creation. */
export function childrenOf(events: readonly EngineEvent[]): readonly string[] {
  return events.flatMap(({ session_id: id, payload }) =>
    payload.type === 'session_created' && payload.origin !== null ? [id] : [],
  );
}

/** Types of one session's events, in order; with `only`, those among them. */
export function typesOf(
  events: readonly EngineEvent[],
  sessionId: string,
  only: readonly string[] = [],
): readonly string[] {
  return events
    .filter(({ session_id: id }) => id === sessionId)
    .map(({ payload }): string => payload.type)
    .filter((type) => only.length === 0 || only.includes(type));
}

/** What the model said in each committed turn of a session. */
export function said(events: readonly EngineEvent[], sessionId: string): readonly string[] {
  return events.flatMap(({ session_id: id, payload }) =>
    id === sessionId && payload.type === 'model_turn_committed'
      ? [payload.content.map((part) => (part.type === 'text' ? part.text : '')).join('')]
      : [],
  );
}

/** The texts of the results of a session's calls, in order of their ends. */
export function resultsOf(events: readonly EngineEvent[], sessionId: string): readonly string[] {
  return events.flatMap(({ session_id: id, payload }) =>
    id === sessionId && payload.type === 'tool_call_terminated'
      ? [
          `${payload.error === null ? '' : `${payload.error.code}: ${payload.error.message}`}${payload.result?.text ?? ''}`,
        ]
      : [],
  );
}

export function payloadsIn(
  events: readonly EngineEvent[],
  type: string,
): readonly (Readonly<Record<string, unknown>> & { readonly session: string })[] {
  return events.flatMap(({ session_id: session, payload }) => {
    // Packages write events beside the engine's.
    const { type: own }: { readonly type: string } = payload;
    return own === type ? [{ ...(payload as object), session }] : [];
  });
}

/** Waits for what another process brings about; fails where it never does. */
export async function until(ready: () => Promise<boolean>): Promise<void> {
  for (let step = 0; step < 6000; step += 1) {
    if (await ready()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('what the test waits for did not come about');
}
