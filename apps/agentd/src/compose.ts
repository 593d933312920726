import { rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { ArtifactStore, fileLocks, logFilesUnder, openArtifactStore } from '@agentd/artifact-store';
import type { CollectionReport, CollectionRequest } from '@agentd/artifact-store';
import {
  messageOf,
  randomIds,
  systemClock,
  type ArtifactReader,
  type BlobReader,
  type ToolDefinition,
  type ToolProvider,
} from '@agentd/contract';
import { coreToolProvider, fileStageJournal } from '@agentd/core-tools';
import {
  createEngine,
  publishedTools,
  toolDefinitions,
  type AgentDocument,
  type Approver,
  type Engine,
  type EngineSettings,
  type PermissionRule,
  type SessionStore,
} from '@agentd/engine';
import { fileSessionStore } from '@agentd/engine/file';
import { createMediaGate, fitAttachments, leftOutNote, mediaPlacer, placeOf } from '@agentd/media-delivery';
import { createModelGateway } from '@agentd/model-gateway';
import type { Settings } from './config/settings.ts';
import type { Project } from './home/project.ts';
import { modelAccessOf, type ModelAccess, type ModelAccessParts } from './models/model-access.ts';
import { gatewayProviders } from './models/provider-settings.ts';
import type { Situation } from './situation.ts';
import { VERSION } from './version.ts';
import { loadWorkspaceNotes } from './workspace-notes.ts';

const clock = systemClock;
const ids = randomIds;
const locks = fileLocks;
const mediaGate = createMediaGate();

/** The parts of a project, plugged together. */
export interface App {
  readonly engine: Engine;
  readonly models: ModelAccess;
  /** Removes what processes that died left half-done in the project (FS-9, ART-11). */
  readonly tidy: () => Promise<void>;
  /**
   * Removes stored output that no session refers to any more (ART-9).
   * Contract: never rejects, and takes at most a quarter of a second; a later pass goes on where this one stopped.
   */
  readonly collect: () => Promise<void>;
}

export type Collection = CollectionReport;

/** A process that has said all it had to say does not stay for longer than this. */
const LAST_PASS_MS = 250;

/** What a command may put in the place of what `run` has. */
export interface ComposeChoices {
  /** Headless unless given: asks are denied. */
  readonly approver?: Approver;
  /** Which tools there are at all; all of them as they are unless given. */
  readonly offer?: (providers: readonly ToolProvider[]) => readonly ToolProvider[];
}

/** Composes everything that runs need. Opens and writes nothing by itself. */
export function compose(
  { project, settings, agents }: Situation,
  { approver = nobody, offer = (providers) => providers }: ComposeChoices = {},
): App {
  const artifacts = openArtifacts(project);
  const models = modelAccess(settings, artifacts);
  const stages = fileStageJournal({ folder: project.staging, locks, ids });
  const engine = createEngine(
    {
      clock,
      ids,
      sessions: openSessions(project),
      outputs: artifacts,
      attachments: { fit: fitAttachments, note: leftOutNote },
      models,
      agents,
      tools: offer([coreTools({ settings, artifacts, stages, models })]),
      notes: { load: loadWorkspaceNotes },
      approver,
    },
    engineSettings(settings),
  );
  const tidy = async (): Promise<void> => {
    await openArtifactStore({ folder: project.artifacts, locks, clock, ids });
    await stages.cleanAbandonedStages();
  };
  const collect = async (): Promise<void> => {
    // Whether it skipped, failed or ran out of time: the next run ends with another one.
    await collectArtifacts(project, {}, AbortSignal.timeout(LAST_PASS_MS)).catch(() => undefined);
  };
  return { engine, models, tidy, collect };
}

/** What a root run of the agent would publish, as it is sent to a model. Needs neither a session nor a model. */
export async function offeredTools(
  { project, settings, workspace }: Situation,
  agent: AgentDocument,
  overlay: readonly PermissionRule[],
): Promise<readonly ToolDefinition[]> {
  const provider = coreTools({
    settings,
    artifacts: openArtifacts(project),
    stages: null,
    models: modelAccess(settings),
  });
  const tools = await provider.tools({ id: ids.uuid(), cwd: workspace, agent: agent.id });
  const rules = { document: agent.permissions, overlay };
  return toolDefinitions(publishedTools(tools, { rules, model: null }));
}

export function openSessions({ sessions }: Project): SessionStore {
  return fileSessionStore({ folder: sessions, locks, clock, ids, engineVersion: VERSION });
}

export function openArtifacts({ artifacts }: Project): ArtifactStore & ArtifactReader {
  return new ArtifactStore({ folder: artifacts, locks, clock, ids });
}

/** Removes stored output of the project that none of its sessions refers to, and says why it removed and kept what. */
export function collectArtifacts(
  project: Project,
  asked: Pick<CollectionRequest, 'dryRun' | 'list'>,
  signal: AbortSignal,
): Promise<Collection> {
  const logs = () => logFilesUnder(project.sessions, 'events.jsonl');
  return openArtifacts(project).collect({ ...asked, logs }, signal);
}

/** `blobs` has the bytes of the files in a history; a command that asks no model needs none. */
export function modelAccess(settings: Settings, blobs?: BlobReader): ModelAccess {
  const environment = process.env;
  const gateway = createModelGateway({
    providers: gatewayProviders(settings, environment),
    environment,
    clock,
    ...(blobs === undefined ? {} : { media: { placer: mediaPlacer, blobs } }),
  });
  const carries: ModelAccessParts['carries'] = (model, kind) => placeOf(model, kind) !== null;
  return modelAccessOf({ settings, gateway, environment, carries });
}

/** Why locks do not work where the home is; null when they do. */
export async function locksWork(home: string): Promise<string | null> {
  for (const folder of [home, tmpdir()]) {
    const path = join(folder, `.doctor-${ids.hex(8)}.lock`);
    try {
      const first = await locks.tryExclusive(path);
      const second = await locks.tryExclusive(path);
      await Promise.all([first?.release(), second?.release()]);
      await rm(path, { force: true });
      return first !== null && second === null
        ? null
        : `${folder} keeps no locks; put the home on a local disk`;
    } catch (error) {
      if (folder !== home) return messageOf(error);
    }
  }
  return null;
}

interface CoreToolParts {
  readonly settings: Settings;
  readonly artifacts: ArtifactReader;
  readonly stages: ReturnType<typeof fileStageJournal> | null;
  readonly models: ModelAccess;
}

function coreTools({ settings, artifacts, stages, models }: CoreToolParts): ToolProvider {
  const passed = new Set(settings.bash.pass_env);
  const withheld = models.credentialVariables().filter((name) => !passed.has(name));
  return coreToolProvider({
    artifacts,
    media: mediaGate,
    stages,
    home: homedir(),
    environment: process.env,
    withheld,
    clock,
  });
}

/** Headless: an ask is denied at once, and the run goes on (PERM-6). */
const nobody: Approver = {
  ask: async () => ({
    decision: 'reject',
    source: 'policy',
    feedback: 'nobody can be asked in a headless run',
  }),
};

function engineSettings({ tool_output: output, model_retry: retry }: Settings): EngineSettings {
  return {
    version: VERSION,
    outputLimits: {
      maxLines: output.max_lines,
      maxBytes: output.max_bytes,
      maxCaptureBytes: output.max_capture_bytes,
    },
    retry: { standard: retry.standard, overload: retry.overload, ceilingMs: retry.ceiling_ms },
  };
}
