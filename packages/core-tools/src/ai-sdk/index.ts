// Every line here is a promise to users of `@agentd/core-tools/ai-sdk`.
export { aiSdkTools } from './ai-sdk-tools.ts';
export type { AiSdkApproval, AiSdkCallOptions, AiSdkOptions, AiSdkTool } from './ai-sdk-tools.ts';
export type { AiSdkSchema } from './ai-sdk-schema.ts';
