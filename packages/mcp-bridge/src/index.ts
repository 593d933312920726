// Every line here is a promise to users.
export { createMcpBridge, MCP_PROVIDER_ID } from './create-mcp-bridge.ts';
export type { McpBridge } from './create-mcp-bridge.ts';
export { mcpError } from './errors.ts';
export type { McpErrorCode } from './errors.ts';
export { assignNames } from './names/tool-names.ts';
export type { AssignedNames, ToolOrigin } from './names/tool-names.ts';
export { credentialKey } from './oauth/credentials.ts';
export type { CredentialStore, StoredCredentials } from './oauth/credentials.ts';
export type {
  AuthorizationInteraction,
  CallHooks,
  ConnectionHooks,
  ListKind,
  McpBridgePorts,
  McpConnection,
  McpConnector,
  NamedTarget,
  Page,
  ServerCall,
  ServerProgress,
  ToolListCache,
} from './ports.ts';
export { sdkConnector } from './sdk/sdk-connector.ts';
export type { Elicit, ElicitationAnswer, SdkConnectorPorts } from './sdk/sdk-connector.ts';
export type { ServerState, ServerStatus } from './server/server-status.ts';
export { DEFAULT_SERVER_TIMEOUT_MS } from './settings.ts';
export type {
  HttpTarget,
  McpBridgeSettings,
  OAuthSettings,
  ServerSettings,
  ServerTarget,
  StdioTarget,
} from './settings.ts';
