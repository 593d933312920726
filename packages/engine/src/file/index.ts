// Every line here is a promise to users.
export { fileSessionStore } from './session-store.ts';
export type { FileSessionStoreInit } from './session-store.ts';
