// Every line here is a promise to users.
export { fileLocks } from './file-locks.ts';
export type { SharedFileLocks } from './file-locks.ts';
