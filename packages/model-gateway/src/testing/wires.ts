import type { AdaptorId, ProviderSettings } from '../settings.ts';
import { anthropicTurn } from './anthropic-turn.ts';
import { bedrockTurn } from './bedrock-turn.ts';
import type { CannedReply } from './canned-reply.ts';
import { cohereTurn } from './cohere-turn.ts';
import { geminiTurn } from './gemini-turn.ts';
import { openaiTurn } from './openai-turn.ts';
import { responsesTurn } from './responses-turn.ts';
import type { WireCall } from './wire-turn.ts';

export type WireAdaptor = Exclude<AdaptorId, 'scripted'>;

/** What a turn holds on every wire. */
export interface PlainTurn {
  readonly text?: string;
  readonly calls?: readonly WireCall[];
  /** The answer was cut off by its limit. */
  readonly isCutOff?: boolean;
}

/** One adaptor, as tests of all of them see it. */
export interface WireCase {
  readonly settings: Omit<ProviderSettings, 'adaptor'>;
  readonly model: string;
  /** Where a request of this model arrives. */
  readonly path: string;
  /** The header that carries the key. */
  readonly keyHeader: string;
  readonly turn: (turn: PlainTurn) => CannedReply;
}

export const KEY = 'test-key-0123456789';

const cutOff = <Word extends string>(isCutOff: boolean | undefined, word: Word): Word | undefined =>
  isCutOff === true ? word : undefined;

type Turn = (turn: PlainTurn) => CannedReply;

const messages: Turn = ({ isCutOff, ...turn }) =>
  anthropicTurn({ ...turn, ...(isCutOff === true ? { stop: 'max_tokens' } : {}) });
const chat: Turn = ({ isCutOff, ...turn }) =>
  openaiTurn({ ...turn, ...(isCutOff === true ? { finish: 'length' } : {}) });
const responses: Turn = ({ isCutOff, ...turn }) =>
  responsesTurn({ ...turn, ...(isCutOff === true ? { incomplete: 'max_output_tokens' } : {}) });
const gemini: Turn = ({ isCutOff, ...turn }) =>
  geminiTurn({ ...turn, finish: cutOff(isCutOff, 'MAX_TOKENS') ?? 'STOP' });
const bedrock: Turn = ({ isCutOff, ...turn }) =>
  bedrockTurn({ ...turn, ...(isCutOff === true ? { stop: 'max_tokens' } : {}) });
const cohere: Turn = ({ isCutOff, ...turn }) =>
  cohereTurn({ ...turn, ...(isCutOff === true ? { finish: 'MAX_TOKENS' } : {}) });

const model = 'test-model';
const settings = { apiKey: KEY };
const bearer = { settings, model, keyHeader: `authorization: Bearer ${KEY}` };
const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';

/** Every adaptor that speaks over a wire. */
export const WIRES: Readonly<Record<WireAdaptor, WireCase>> = {
  anthropic: { settings, model, path: '/v1/messages', keyHeader: `x-api-key: ${KEY}`, turn: messages },
  'anthropic-compatible': {
    settings,
    model,
    path: '/v1/messages',
    keyHeader: `x-api-key: ${KEY}`,
    turn: messages,
  },
  'openai-responses': { ...bearer, path: '/v1/responses', turn: responses },
  'openai-chat': { ...bearer, path: '/v1/chat/completions', turn: chat },
  'openai-compatible': { ...bearer, path: '/v1/chat/completions', turn: chat },
  'google-gemini': {
    settings,
    model,
    path: '/v1/models/test-model:streamGenerateContent?alt=sse',
    keyHeader: `x-goog-api-key: ${KEY}`,
    turn: gemini,
  },
  'google-vertex-gemini': {
    settings: { accessToken: KEY },
    model,
    path: '/v1/models/test-model:streamGenerateContent?alt=sse',
    keyHeader: `authorization: Bearer ${KEY}`,
    turn: gemini,
  },
  'aws-bedrock-converse': {
    ...bearer,
    model: CLAUDE,
    path: `/v1/model/${encodeURIComponent(CLAUDE)}/converse-stream`,
    turn: bedrock,
  },
  'azure-openai-responses': {
    settings,
    model,
    path: '/v1/responses',
    keyHeader: `api-key: ${KEY}`,
    turn: responses,
  },
  'azure-openai-chat': {
    settings,
    model,
    path: '/v1/chat/completions',
    keyHeader: `api-key: ${KEY}`,
    turn: chat,
  },
  'cohere-v2-chat': { ...bearer, path: '/v1/chat', turn: cohere },
};

export const WIRE_ADAPTORS = Object.keys(WIRES) as readonly WireAdaptor[];
