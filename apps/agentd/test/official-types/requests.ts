// What the providers' own SDKs say a request is. A test compiles this together with bodies that a server recorded
// (request-types.test.ts); nothing else does, so that no other build pays for these types.
import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages/messages';
import type { ConverseStreamRequest } from '@aws-sdk/client-bedrock-runtime';
import type { Content, FunctionDeclaration, GenerationConfig } from '@google/genai';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { V2ChatStreamRequest } from '../../node_modules/cohere-ai/dist/serialization/resources/v2/client/requests/V2ChatStreamRequest.d.ts';

/** The SDK takes bytes; the wire carries them as base64. */
type OnWire<Value> = Value extends Uint8Array
  ? string
  : Value extends string | number | boolean | null | undefined
    ? Value
    : Value extends readonly (infer Item)[]
      ? OnWire<Item>[]
      : { [Key in keyof Value]: Key extends 'json' | 'input' ? unknown : OnWire<Value[Key]> };

/** The body of `generateContent`. The SDK's own parameters have another shape, of the same parts. */
interface GenerateContentBody {
  contents: Content[];
  systemInstruction?: Content;
  tools?: { functionDeclarations: FunctionDeclaration[] }[];
  generationConfig?: GenerationConfig;
}

/** Bodies by adaptor id. */
export interface Requests {
  anthropic: MessageCreateParamsStreaming;
  'anthropic-compatible': MessageCreateParamsStreaming;
  'aws-bedrock-converse': Omit<OnWire<ConverseStreamRequest>, 'modelId'>;
  'openai-responses': ResponseCreateParamsStreaming;
  'azure-openai-responses': ResponseCreateParamsStreaming;
  'openai-chat': ChatCompletionCreateParamsStreaming;
  'azure-openai-chat': ChatCompletionCreateParamsStreaming;
  'openai-compatible': ChatCompletionCreateParamsStreaming;
  'google-gemini': GenerateContentBody;
  'google-vertex-gemini': GenerateContentBody;
  /** `stream` is what tells this request from the one for a whole answer; the SDK adds it while it sends. */
  'cohere-v2-chat': V2ChatStreamRequest.Raw & { stream: true };
}
