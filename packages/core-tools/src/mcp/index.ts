// Every line here is a promise to users of `@agentd/core-tools/mcp`.
export { inArrivalOrder } from './arrival-order.ts';
export { callResult } from './call-result.ts';
export type { CallResultInit, ServedFile } from './call-result.ts';
export { Lanes } from './lanes.ts';
export type { Place } from './lanes.ts';
export type {
  McpCallRequest,
  McpCallResult,
  McpContent,
  McpExtra,
  McpProgress,
  McpTool,
} from './mcp-shapes.ts';
export { mcpTools } from './mcp-tools.ts';
export type { McpApproval, McpToolOptions, McpTools } from './mcp-tools.ts';
export { ProgressFeed } from './progress-feed.ts';
export { toolListing } from './tool-listing.ts';
