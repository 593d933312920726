// For tests of loops and stores that use messaging, and for examples. No test runner is imported here.
export { memoryLog } from './memory-log.ts';
export type { MemoryLog } from './memory-log.ts';
export { memoryTree } from './memory-tree.ts';
export type { MemoryPeerInit, MemorySession, MemoryTree } from './memory-tree.ts';
export { inboxLogCases, messagingPortCases } from './port-cases.ts';
export type { InboxLogSubject, MessagingPortSubject } from './port-cases.ts';
