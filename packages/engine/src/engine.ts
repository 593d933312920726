import type { EventEnvelope, SessionId, SessionProjection, ToolProvider } from '@agentd/contract';
import type { PermissionRule } from './agent-document.ts';
import type { PermissionMode } from './events.ts';
import type { EnginePorts, EngineSettings, Extension, LogDiagnostic, SessionListing } from './ports.ts';
import type { Session } from './session.ts';
import type { SessionListener } from './session-journal.ts';
import { SessionState } from './session-state.ts';
import type { ResidencyLimits } from './tree/residents.ts';
import { ownModelsFirst } from './tree/run-defaults.ts';
import { Trees } from './tree/trees.ts';

export interface SessionInit {
  /** Absolute working directory. */
  readonly cwd: string;
  /** An agent document's id. */
  readonly agent: string;
  readonly title?: string;
  /** `ask` unless given (PERM-6). */
  readonly mode?: PermissionMode;
  readonly overlay?: readonly PermissionRule[];
  readonly listener?: SessionListener;
}

/** A session as its log tells it, read without the lock (SES-4). */
export interface SessionSnapshot {
  readonly state: SessionState;
  readonly events: readonly EventEnvelope[];
  readonly diagnostics: readonly LogDiagnostic[];
}

export interface Engine {
  /** Throws `ENGINE_AGENT_UNKNOWN` before anything is written. The listener sees the session's first events too. */
  readonly createSession: (init: SessionInit) => Promise<Session>;
  /**
   * Takes the lock of the session's tree and mends what a crash left in it (SES-6); the listener sees the events of
   * the whole tree, those of the mending too. Nothing goes on by itself before `Session.resume`. Throws
   * `ENGINE_SESSION_NOT_FOUND`, `ENGINE_SESSION_LOCKED` or `ENGINE_SESSION_DAMAGED`.
   */
  readonly openSession: (sessionId: SessionId, listener?: SessionListener) => Promise<Session>;
  readonly readSession: (sessionId: SessionId) => Promise<SessionSnapshot>;
  /** Newest first. */
  readonly listSessions: () => Promise<readonly SessionListing[]>;
  /**
   * Cancels active runs (`signal`) and closes every tree, whatever becomes of the others. Idempotent; afterwards
   * nothing can be opened. Rejects like `Session.close`.
   */
  readonly stop: () => Promise<void>;
}

/** Makes an engine of its ports. It starts nothing by itself and keeps no state beside its open sessions. */
export function createEngine<Ledger extends SessionProjection = SessionProjection>(
  ports: EnginePorts<Ledger>,
  settings: EngineSettings,
): Engine {
  let extension: Extension<Ledger> = { tools: [] };
  const { sessions, inbox, runDefaults = ownModelsFirst, cannotWake = () => undefined } = ports;
  const tools = (): readonly ToolProvider[] => [...ports.tools, ...extension.tools];
  const trees = new Trees({
    ports: { ...ports, tools },
    settings,
    views: () => ({ inbox, ledger: extension.ledger }),
    residency: settings.residency ?? DEFAULT_RESIDENCY,
    defaults: runDefaults,
    keeper: () => extension.keeper,
    cannotWake,
  });
  extension = ports.extend?.(trees.host<Ledger>()) ?? extension;
  return {
    createSession: ({ listener = {}, title = '', ...init }) => trees.create({ ...init, title }, listener),
    openSession: (sessionId, listener = {}) => trees.open(sessionId, listener),
    readSession: async (sessionId) => {
      const { events, diagnostics } = await sessions.read(sessionId);
      return { state: SessionState.of(events), events, diagnostics };
    },
    listSessions: () => sessions.list(),
    stop: () => trees.stop(),
  };
}

const DEFAULT_RESIDENCY: ResidencyLimits = { maxResident: 20, idleMs: 3_600_000 };
