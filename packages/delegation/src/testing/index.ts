// For tests of loops and stores that use delegation, and for examples. No test runner is imported here.
export { MemoryHost } from './memory-host.ts';
export type { MemoryHostInit } from './memory-host.ts';
export type { MemoryDisk } from './memory-store.ts';
export type { CallOptions, MemoryCall, MemoryLoop, MemoryRun } from './memory-run.ts';
export { memoryLog } from './memory-log.ts';
export type { MemoryLog, MemoryLogInit } from './memory-log.ts';
export { sessionHostCases } from './host-cases.ts';
export type { SessionHostSubject } from './host-cases.ts';
