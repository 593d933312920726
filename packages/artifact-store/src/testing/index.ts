// What every backend owes, as plain data. No test runner is imported here.
export { blobBackendCases } from './blob-backend-cases.ts';
