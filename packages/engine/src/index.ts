// Every line here is a promise to users.
export type { AgentDocument, PermissionRule } from './agent-document.ts';
export { engineError } from './errors.ts';
export type { EngineErrorCode } from './errors.ts';
