import {
  anthropicTurn,
  bedrockTurn,
  cohereTurn,
  geminiTurn,
  openaiTurn,
  responsesTurn,
  type CannedReply,
  type WireCall,
} from '@agentd/model-gateway/testing';

export type Kind = 'image' | 'pdf' | 'video' | 'audio';

interface WireTurn {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
}

/** One row of the matrix: an adaptor and a model, and where each kind is found in a request. */
export interface WireRow {
  readonly clause: string;
  readonly adaptor: string;
  readonly model: string;
  /** The setting that carries the key. */
  readonly key?: 'api_key' | 'access_token';
  readonly turn: (turn: WireTurn) => CannedReply;
  /** The place of the content in the body of the request after the calls; null for a kind that is refused. */
  readonly places: Readonly<Record<Kind, string | null>>;
}

const NOWHERE = { image: null, pdf: null, video: null, audio: null };

const messages = (more: Partial<WireRow['places']> = {}): WireRow['places'] => ({
  ...NOWHERE,
  image: 'messages[2].content[0].content[1].source.data',
  pdf: 'messages[2].content[1].content[1].source.data',
  ...more,
});
const converse = (more: Partial<WireRow['places']> = {}): WireRow['places'] => ({
  ...NOWHERE,
  image: 'messages[2].content[0].toolResult.content[1].image.source.bytes',
  pdf: 'messages[2].content[1].toolResult.content[1].document.source.bytes',
  ...more,
});
const responses = {
  ...NOWHERE,
  image: 'input[6].output[1].image_url',
  pdf: 'input[7].output[1].file_data',
};
// After the system text, the question, the calls and four results; each file stands after a line that names it.
const chat = (more: Partial<WireRow['places']> = {}): WireRow['places'] => ({
  ...NOWHERE,
  image: 'messages[7].content[2].image_url.url',
  pdf: 'messages[7].content[4].file.file_data',
  ...more,
});
const gemini = {
  image: 'contents[3].parts[2].inlineData.data',
  pdf: 'contents[3].parts[4].inlineData.data',
  video: 'contents[3].parts[6].inlineData.data',
  audio: 'contents[3].parts[8].inlineData.data',
};

/** Every adaptor, and those of its models that take more than others. */
export const WIRE_ROWS: readonly WireRow[] = [
  { clause: 'DEL-1', adaptor: 'anthropic', model: 'claude', turn: anthropicTurn, places: messages() },
  { clause: 'DEL-2', adaptor: 'anthropic-compatible', model: 'glm', turn: anthropicTurn, places: messages() },
  {
    clause: 'DEL-2',
    adaptor: 'anthropic-compatible',
    model: 'MiniMax-M3',
    turn: anthropicTurn,
    places: messages({ video: 'messages[2].content[6].source.data' }),
  },
  {
    clause: 'DEL-3',
    adaptor: 'aws-bedrock-converse',
    model: 'anthropic.claude-sonnet-4-5',
    turn: bedrockTurn,
    places: converse(),
  },
  {
    clause: 'DEL-3',
    adaptor: 'aws-bedrock-converse',
    model: 'eu.amazon.nova-pro-v1:0',
    turn: bedrockTurn,
    places: converse({ video: 'messages[2].content[2].toolResult.content[1].video.source.bytes' }),
  },
  { clause: 'DEL-4', adaptor: 'openai-responses', model: 'gpt', turn: responsesTurn, places: responses },
  {
    clause: 'DEL-4',
    adaptor: 'azure-openai-responses',
    model: 'gpt',
    turn: responsesTurn,
    places: responses,
  },
  { clause: 'DEL-5', adaptor: 'openai-chat', model: 'gpt', turn: openaiTurn, places: chat() },
  {
    clause: 'DEL-6',
    adaptor: 'azure-openai-chat',
    model: 'gpt',
    turn: openaiTurn,
    places: chat({ pdf: null }),
  },
  { clause: 'DEL-7', adaptor: 'openai-compatible', model: 'llama', turn: openaiTurn, places: chat() },
  {
    clause: 'DEL-7',
    adaptor: 'openai-compatible',
    model: 'kimi-k2.6',
    turn: openaiTurn,
    places: chat({ video: 'messages[7].content[6].video_url.url' }),
  },
  {
    clause: 'DEL-7',
    adaptor: 'openai-compatible',
    model: 'Qwen3.5-VL',
    turn: openaiTurn,
    places: chat({ video: 'messages[7].content[6].video_url.url' }),
  },
  { clause: 'DEL-8', adaptor: 'google-gemini', model: 'gemini', turn: geminiTurn, places: gemini },
  {
    clause: 'DEL-8',
    adaptor: 'google-vertex-gemini',
    model: 'gemini',
    key: 'access_token',
    turn: geminiTurn,
    places: gemini,
  },
  {
    clause: 'DEL-9',
    adaptor: 'cohere-v2-chat',
    model: 'command',
    turn: cohereTurn,
    places: chat({ pdf: null }),
  },
];

/** Every place of a text that holds `part`, as a path. */
export function placesOf(value: unknown, part: string, path = ''): readonly string[] {
  if (typeof value === 'string') return value.includes(part) ? [path] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const step = Array.isArray(value) ? `[${key}]` : path === '' ? key : `.${key}`;
    return placesOf(child, part, path + step);
  });
}
