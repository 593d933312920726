// Every line here is a promise to users.
export { createMessaging } from './create-messaging.ts';
export { agentEnvelope, escapeBody } from './envelope.ts';
export type { MessagingErrorCode, Refusal, SendRefusal } from './errors.ts';
export { messageEventSchemas } from './events.ts';
export type { MessageEvent, MessageEventOf, MessageEventType } from './events.ts';
export {
  acceptanceProblem,
  bodyProblem,
  recipientProblem,
  shutdownProblem,
  switchProblem,
} from './guards.ts';
export type { Send } from './guards.ts';
export { inboxOpener } from './inbox.ts';
export { InboxState } from './inbox-state.ts';
export type { InboxFault } from './inbox-state.ts';
export { phaseAfter } from './message-phase.ts';
export type { MessagePhase, MessageStep } from './message-phase.ts';
export type { MessageRecord } from './message-record.ts';
export type {
  HeldInbox,
  Inboxes,
  MessageRules,
  MessagingPorts,
  Peer,
  PeerDirectory,
  Waker,
} from './ports.ts';
export { relationOf } from './relation.ts';
export type { Relation } from './relation.ts';
export { createSendMessageTool } from './send-message-tool.ts';
export { DEFAULT_MESSAGING_SETTINGS } from './settings.ts';
export type { MessagingSettings } from './settings.ts';
