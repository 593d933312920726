// Every line here is a promise to users.
export { ARTIFACT_SCHEME } from './artifact.ts';
export type { ArtifactAddress, ArtifactPage, ArtifactPageRequest, ArtifactReader } from './artifact.ts';
export { pause, systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export { defineTool } from './define-tool.ts';
export type { ToolInit } from './define-tool.ts';
export { AgentdError, codeOf, isAgentdError, messageOf, unreachable } from './errors.ts';
export type { AgentdErrorInit } from './errors.ts';
export type { EventEnvelope, EventPayload } from './events.ts';
export type { FileLock, FileLocks } from './file-locks.ts';
export { isUuid, randomIds } from './ids.ts';
export type { Ids, RunId, SessionId, ToolCallId } from './ids.ts';
export type {
  AcceptedMessage,
  ClaimedMessage,
  Inbox,
  InboxBoundary,
  InboxInit,
  InboxLog,
  InboxView,
  MessageDraft,
  MessageMode,
  MessageOwner,
  OpenInbox,
  RecipientState,
} from './inbox.ts';
export { isJsonObject } from './json.ts';
export type { JsonObject, JsonValue } from './json.ts';
export type {
  AdmittedMedia,
  AttachedFile,
  Attachment,
  AttachmentBudget,
  BlobReader,
  KeptFile,
  KeptFiles,
  MediaBytes,
  MediaCandidate,
  MediaGate,
  MediaKind,
  MediaLimits,
  MediaPlace,
  MediaPlacer,
  ModelMediaLimits,
  PlacedMessage,
  PlacedPart,
  PlacedToolResult,
  PlacementOptions,
} from './media.ts';
export { isModelError, modelError } from './model.ts';
export type {
  AssistantPart,
  AssistantToolCall,
  FinishReason,
  Modality,
  ModelClient,
  ModelErrorCode,
  ModelErrorInit,
  ModelInfo,
  ModelMessage,
  ModelPricing,
  ModelRequest,
  ModelStreamPart,
  ModelUsage,
  ToolDefinition,
  ToolResultPart,
  UserPart,
} from './model.ts';
export {
  DEFAULT_OUTPUT_LIMITS,
  MAX_OUTPUT_STREAMS,
  MAX_RESULT_BYTES,
  declarationProblem,
  isStreamName,
  streamsOf,
} from './output.ts';
export type {
  ArtifactReference,
  CaptureRequest,
  CaptureResult,
  OutputCapture,
  OutputChunk,
  OutputDeclaration,
  OutputLimits,
  OutputStore,
  RetainedOutput,
  RetainedStream,
  StreamName,
} from './output.ts';
export { PERMISSION_ACTIONS } from './permission.ts';
export type { PermissionAction, PermissionEffect, PermissionRequest } from './permission.ts';
export type { ProcessGuard } from './process-guard.ts';
export type {
  ChildInit,
  ChildRunInit,
  HeldSession,
  OpenProjection,
  ProjectionInit,
  RunStatus,
  SessionFacts,
  SessionHost,
  SessionOrigin,
  SessionProjection,
  SessionRun,
  SessionStatus,
  StartedChildRun,
  TreeKeeper,
} from './session-host.ts';
export { unknownSubagent } from './subagent-reference.ts';
export type { SubagentCandidate } from './subagent-reference.ts';
export { toolError } from './tool-error.ts';
export type { ToolError, ToolErrorCode } from './tool-error.ts';
export type {
  CallOutcome,
  CallReport,
  CompletionOutput,
  ExecuteContext,
  PreparedCall,
  PrepareContext,
  Tool,
  ToolCompletion,
  ToolProgress,
  ToolProvider,
  ToolResultRecord,
  ToolSpec,
} from './tool.ts';
