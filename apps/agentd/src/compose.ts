import { homedir } from 'node:os';
import { ArtifactStore, fileLocks, logFilesUnder, openArtifactStore } from '@agentd/artifact-store';
import type { CollectionReport, CollectionRequest } from '@agentd/artifact-store';
import {
  randomIds,
  systemClock,
  type ArtifactReader,
  type BlobReader,
  type ToolDefinition,
  type ToolProvider,
} from '@agentd/contract';
import { coreToolProvider, fileStageJournal, guardProcess } from '@agentd/core-tools';
import { createDelegation, type DelegationLedger } from '@agentd/delegation';
import {
  createEngine,
  type AgentDocument,
  type Approver,
  type Engine,
  type EngineHost,
  type EnginePorts,
  type EngineSettings,
  type Extension,
  type PermissionRule,
  type RunDefaults,
  type SessionStore,
} from '@agentd/engine';
import { fileSessionStore } from '@agentd/engine/file';
import type { McpBridge } from '@agentd/mcp-bridge';
import {
  DEFAULT_MAX_PDF_PAGES,
  createMediaGate,
  fitAttachments,
  leftOutNote,
  maxBytesOf,
  maxCountOf,
  mediaPlacer,
  placeOf,
} from '@agentd/media-delivery';
import { createMessaging, inboxOpener } from '@agentd/messaging';
import { createModelGateway } from '@agentd/model-gateway';
import type { Settings } from './config/settings.ts';
import type { Project } from './home/project.ts';
import { openBridge, type BridgeSituation } from './mcp-servers/open-bridge.ts';
import { stoppedBefore } from './mcp-servers/stopped-before.ts';
import { withheldVariables } from './config/withheld-variables.ts';
import { modelAccessOf, type ModelAccess, type ModelAccessParts } from './models/model-access.ts';
import { gatewaySettings } from './models/provider-settings.ts';
import { usualRunDefaults } from './run/run-budget.ts';
import { unkeptSessions } from './session/unkept-sessions.ts';
import type { Situation } from './situation.ts';
import { VERSION } from './version.ts';
import { loadWorkspaceNotes } from './workspace-notes.ts';

const clock = systemClock;
const ids = randomIds;
/** Locks of the operating system. */
export const locks = fileLocks;
const mediaGate = createMediaGate();

/** The parts of a project, plugged together. */
export interface App {
  readonly engine: Engine;
  readonly models: ModelAccess;
  /** The configured MCP servers; null where there are none. */
  readonly mcp: McpBridge | null;
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
  /** Where sessions are; in the project's folder unless given. */
  readonly sessions?: SessionStore;
  /** Bounds the runs that no user starts. */
  readonly limit?: (usual: RunDefaults) => RunDefaults;
  readonly cannotWake?: EnginePorts['cannotWake'];
  /** Takes one line about something that does not work and stops nothing. */
  readonly warn?: (line: string) => void;
}

/** Composes everything that runs need. Opens and writes nothing by itself. */
export function compose(situation: Situation, choices: ComposeChoices = {}): App {
  const { project, settings, agents } = situation;
  const { approver = nobody, offer = asTheyAre, limit = asTheyAre, cannotWake, warn } = choices;
  const artifacts = openArtifacts(project);
  const models = modelAccess(settings, artifacts);
  const stages = fileStageJournal({ folder: project.staging, locks, ids });
  const mcp = openServers(situation, warn);
  const withheld = withheldIn(situation, models);
  const engine = createEngine<DelegationLedger>(
    {
      clock,
      ids,
      sessions: choices.sessions ?? openSessions(project),
      outputs: artifacts,
      attachments: { fit: fitAttachments, note: leftOutNote },
      models,
      agents,
      tools: offer([coreTools({ artifacts, stages, withheld }), ...(mcp === null ? [] : [mcp])]),
      notes: { load: loadWorkspaceNotes },
      approver,
      inbox: inboxOpener(ids),
      extend: (host) => {
        const extension = agentTools(host, situation);
        return { ...extension, tools: offer(extension.tools) };
      },
      runDefaults: limit(usualRunDefaults({ settings, models })),
      ...(cannotWake === undefined ? {} : { cannotWake }),
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
  return { engine: stoppedBefore(engine, mcp), mcp, models, tidy, collect };
}

/** The configured MCP servers; null where there are none. Starts nothing by itself. */
export function openServers(situation: BridgeSituation, warn?: ComposeChoices['warn']): McpBridge | null {
  const choices = { clock, locks, media: mediaGate, guard: guardProcess };
  return openBridge(situation, { ...choices, ...(warn === undefined ? {} : { warn }) });
}

/** What agents do with each other: messages and subagents, on the engine's own sessions. */
function agentTools(
  host: EngineHost<DelegationLedger>,
  { settings, agents }: Situation,
): Extension<DelegationLedger> {
  const { messaging: limits, delegation: depth } = settings;
  const messaging = createMessaging(
    {
      directory: host,
      inboxes: {
        use: (sessionId, work) =>
          host.use(sessionId, ({ inbox, log }) => work({ inbox, sync: () => log.sync() })),
      },
      waker: host,
      rules: {
        reach: (session, relation) =>
          host.verdict(session, { action: 'message', label: relation }) !== 'deny',
      },
      shutdown: host.shutdown,
    },
    {
      enabled: limits.enabled,
      maxHops: limits.max_hops,
      maxBodyBytes: limits.max_body_bytes,
      maxPendingPerSession: limits.max_pending_per_session,
      maxInflightPerPair: limits.max_inflight_per_pair,
    },
  );
  const delegation = createDelegation(
    {
      host,
      agents: { list: async () => agents.all.map(({ document }) => document) },
      rules: {
        verdict: (session, agentId) => host.verdict(session, { action: 'delegate', label: agentId }),
      },
      ids,
    },
    { maxDepth: depth.max_depth, maxConcurrency: depth.max_concurrency },
  );
  return { tools: [delegation, messaging], ledger: delegation.openLedger, keeper: delegation };
}

/** What a root run of the agent would publish, as it is sent to a model. Keeps no session and needs no model. */
export async function offeredTools(
  situation: Situation,
  agent: AgentDocument,
  overlay: readonly PermissionRule[],
): Promise<readonly ToolDefinition[]> {
  const { engine } = compose(situation, { sessions: unkeptSessions() });
  const init = { cwd: situation.workspace, agent: agent.id, overlay };
  try {
    const session = await engine.createSession(init);
    return await session.publishedTools();
  } finally {
    await engine.stop();
  }
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
    ...gatewaySettings(settings, environment),
    environment,
    clock,
    ...(blobs === undefined ? {} : { media: { placer: mediaPlacer, blobs } }),
  });
  const limits: ModelAccessParts['limits'] = (model, kind) =>
    placeOf(model, kind) === null
      ? null
      : {
          maxBytes: maxBytesOf(model, kind),
          maxCount: maxCountOf(model, kind),
          ...(kind === 'pdf' ? { maxPages: model.media?.pdf?.maxPages ?? DEFAULT_MAX_PDF_PAGES } : {}),
        };
  return modelAccessOf({ settings, gateway, environment, limits });
}

interface CoreToolParts {
  readonly artifacts: ArtifactReader;
  readonly stages: ReturnType<typeof fileStageJournal> | null;
  readonly withheld: readonly string[];
}

function withheldIn({ settings, mcpServers }: Situation, models: ModelAccess): readonly string[] {
  const credentials = [...models.credentialVariables(), ...(mcpServers?.variables ?? [])];
  return withheldVariables(credentials, settings.bash.pass_env);
}

function coreTools({ artifacts, stages, withheld }: CoreToolParts): ToolProvider {
  return coreToolProvider({
    artifacts,
    media: mediaGate,
    stages,
    home: homedir(),
    environment: process.env,
    withheld,
    hidesOwnEnvironment: true,
    clock,
  });
}

function asTheyAre<Value>(value: Value): Value {
  return value;
}

/** Headless: an ask is denied at once, and the run goes on (PERM-6). */
const nobody: Approver = {
  ask: async () => ({
    decision: 'reject',
    source: 'policy',
    feedback: 'nobody can be asked in a headless run',
  }),
};

function engineSettings({
  tool_output: output,
  model_retry: retry,
  delegation,
  context,
}: Settings): EngineSettings {
  return {
    version: VERSION,
    outputLimits: {
      maxLines: output.max_lines,
      maxBytes: output.max_bytes,
      maxCaptureBytes: output.max_capture_bytes,
    },
    retry: { standard: retry.standard, overload: retry.overload, ceilingMs: retry.ceiling_ms },
    context: { triggerPercent: context.trigger_percent },
    residency: {
      maxResident: delegation.max_resident_subagents,
      idleMs: delegation.idle_eviction_after,
    },
  };
}
