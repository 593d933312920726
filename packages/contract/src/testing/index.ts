// Fakes and cases for tests of our packages and of implementations by others. No test runner is imported here.
export { manualClock } from './manual-clock.ts';
export type { ManualClock } from './manual-clock.ts';
export { deferred, flush } from './deferred.ts';
export type { Deferred } from './deferred.ts';
export { processorMs } from './processor-ms.ts';
export { countingIds } from './counting-ids.ts';
export { memoryOutputStore } from './memory-output-store.ts';
export type { MemoryOutputStore } from './memory-output-store.ts';
export { sequenceModel, turnParts } from './sequence-model.ts';
export type { SequenceModel, SequenceTurn } from './sequence-model.ts';
export type { ContractCase } from './contract-case.ts';
export { fileLockCases } from './file-lock-cases.ts';
export type { FileLockSubject } from './file-lock-cases.ts';
