// Fakes and stores for tests of the bridge and of whoever composes it. No test runner is imported here.
export { memoryCredentials } from './memory-credentials.ts';
export { memoryToolLists } from './memory-tool-lists.ts';
