// Every line here is a promise to users.
export type { AgentDocument, PermissionRule } from './agent-document.ts';
export { publishedTools, toolDefinitions } from './calls/publication.ts';
export type { PublicationPolicy } from './calls/publication.ts';
export type { ContextSettings } from './context/context-limits.ts';
export { createEngine } from './engine.ts';
export type { Engine, SessionInit, SessionSnapshot } from './engine.ts';
export { engineError } from './errors.ts';
export type { EngineErrorCode } from './errors.ts';
export { permissionModes } from './events.ts';
export type { EngineEvent, EnginePayload, EventOf, PermissionMode } from './events.ts';
export type { Fault } from './fault.ts';
export { modelTextOf } from './model-text.ts';
export { parseRuleArgument } from './permissions/rule-argument.ts';
export type { ParsedRule } from './permissions/rule-argument.ts';
export type {
  AgentSource,
  ApprovalAnswer,
  ApprovalQuestion,
  Approver,
  EngineHost,
  EnginePorts,
  EngineSettings,
  EventLog,
  Extend,
  Extension,
  LiveEvent,
  LiveListener,
  LogContent,
  LogDiagnostic,
  ModelSource,
  OwnedSession,
  SessionListing,
  SessionStore,
  WorkspaceNotes,
} from './ports.ts';
export type { RunEnd } from './run-end.ts';
export type { CancelReason } from './run-loop.ts';
export type { HandCallInit, RunInit, Session, StartedRun, StdinInput } from './session.ts';
export type { SessionListener } from './session-journal.ts';
export { SessionState } from './session-state.ts';
export { UsageLedger } from './usage-totals.ts';
export type { UsageSum, UsageTotals } from './usage-totals.ts';
export type { ResidencyLimits } from './tree/residents.ts';
export { ownModelsFirst } from './tree/run-defaults.ts';
export type { RunDefaults, RunLimits, RunNeeds } from './tree/run-defaults.ts';
