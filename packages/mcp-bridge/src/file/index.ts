// Every line here is a promise to users.
export { fileCredentials } from './file-credentials.ts';
export type { FileCredentialsOptions } from './file-credentials.ts';
export { fileToolLists } from './file-tool-lists.ts';
