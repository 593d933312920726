// Every line here is a promise to those who test.
export { anthropicTurn } from './anthropic-turn.ts';
export type { AnthropicCall, AnthropicTurn } from './anthropic-turn.ts';
export { bedrockTurn } from './bedrock-turn.ts';
export type { BedrockTurn } from './bedrock-turn.ts';
export { chunked, cutAfter, endAfter, eventStream, hangAfter, httpError } from './canned-reply.ts';
export type { CannedReply } from './canned-reply.ts';
export { cohereTurn } from './cohere-turn.ts';
export type { CohereTurn } from './cohere-turn.ts';
export { geminiTurn } from './gemini-turn.ts';
export type { GeminiCall, GeminiTurn } from './gemini-turn.ts';
export { startModelServer } from './model-server.ts';
export type { ModelServer, RecordedRequest, ReplyMaker } from './model-server.ts';
export { openaiTurn } from './openai-turn.ts';
export type { OpenaiCall, OpenaiTurn } from './openai-turn.ts';
export { responsesTurn } from './responses-turn.ts';
export type { ResponsesTurn } from './responses-turn.ts';
export type { WireCall } from './wire-turn.ts';
