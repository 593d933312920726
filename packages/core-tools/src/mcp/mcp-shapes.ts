/** What an MCP client is told of a tool, in the shape of the protocol. */
export type McpTool = {
  name: string;
  title?: string;
  description: string;
  inputSchema: { type: 'object'; [keyword: string]: unknown };
  /** Hints, which no client should rely on: permissions decide. */
  annotations?: {
    readOnlyHint: boolean;
    destructiveHint?: boolean;
    idempotentHint?: boolean;
    openWorldHint: boolean;
  };
};

/** A part of a result; `data` and `blob` are base64. */
export type McpContent =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } };

/** The result of `tools/call`. With `isError` the text tells a model how to repair its call. */
export type McpCallResult = {
  content: McpContent[];
  isError?: true;
};

/** The parameters of `tools/call`, as far as they are used. */
export interface McpCallRequest {
  readonly params: {
    readonly name: string;
    readonly arguments?: Record<string, unknown> | undefined;
  };
}

export interface McpProgress {
  method: 'notifications/progress';
  params: { progressToken: string | number; progress: number; message: string };
}

/** What the SDK hands to a request handler, as far as it is used. */
export interface McpExtra {
  /** Aborts when the client cancels the request, or goes away. */
  readonly signal: AbortSignal;
  readonly requestId: string | number;
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined;
  readonly sendNotification: (notification: McpProgress) => Promise<void>;
}
