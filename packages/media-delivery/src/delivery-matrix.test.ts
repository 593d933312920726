import { describe, expect, it } from '@jest/globals';
import type { MediaKind, MediaPlace } from '@agentd/contract';
import { DELIVERY_MATRIX, placeOf } from './delivery-matrix.ts';
import { createMediaGate } from './media-gate.ts';
import { mediaSamples } from './testing/index.ts';
import { modelOf } from './testing/models.ts';

const RESULT = 'tool_result';
const USER = 'user_turn';

/** As the rule has it, and not as the table under test has it; the order is image, PDF, video, audio. */
type Expected = readonly [
  image: MediaPlace | null,
  pdf: MediaPlace | null,
  video: MediaPlace | null,
  audio: MediaPlace | null,
];

const KINDS: readonly MediaKind[] = ['image', 'pdf', 'video', 'audio'];

const placesOf = (family: string, id: string): (MediaPlace | null)[] =>
  KINDS.map((kind) => placeOf({ family, id }, kind));

async function gatedPlaces(family: string, id: string): Promise<(MediaPlace | null)[]> {
  const gate = createMediaGate();
  const { signal } = new AbortController();
  return Promise.all(
    KINDS.map(async (kind) => {
      const type = { image: 'image/png', pdf: 'application/pdf', video: 'video/mp4', audio: 'audio/wav' }[
        kind
      ];
      const content = mediaSamples().find(({ mimeType }) => mimeType === type)?.bytes ?? new Uint8Array();
      return gate.admit({ content, name: 'f', model: modelOf(family, { id }) }, signal).then(
        (admitted) => admitted?.place ?? null,
        (error: unknown) => {
          expect(error).toMatchObject({ code: 'media_undeliverable' });
          return null;
        },
      );
    }),
  );
}

async function expectRow(family: string, id: string, expected: Expected): Promise<void> {
  expect(placesOf(family, id)).toEqual(expected);
  expect(await gatedPlaces(family, id)).toEqual(expected);
}

describe('where each family takes each kind', () => {
  it('puts images and PDF of Anthropic into the tool result (DEL-1)', async () => {
    await expectRow('anthropic', 'anthropic/claude', [RESULT, RESULT, null, null]);
    await expectRow('anthropic', 'anthropic/minimax-named', [RESULT, RESULT, null, null]);
  });

  it('adds a user turn for the films of MiniMax on Anthropic-compatible servers (DEL-2) [MED-11]', async () => {
    await expectRow('anthropic-compatible', 'house/MiniMax-M3', [RESULT, RESULT, USER, null]);
    await expectRow('anthropic-compatible', 'house/glm-5', [RESULT, RESULT, null, null]);
  });

  it('puts the films of Nova on Bedrock into the tool result (DEL-3) [MED-11]', async () => {
    await expectRow('aws-bedrock-converse', 'bedrock/amazon.nova-pro', [RESULT, RESULT, RESULT, null]);
    await expectRow('aws-bedrock-converse', 'bedrock/anthropic.claude', [RESULT, RESULT, null, null]);
  });

  it('puts images and PDF of every Responses API into the tool result (DEL-4)', async () => {
    await expectRow('openai-responses', 'openai/gpt', [RESULT, RESULT, null, null]);
    await expectRow('azure-openai-responses', 'azure/gpt', [RESULT, RESULT, null, null]);
  });

  it('sends images and PDF of OpenAI Chat in a user turn (DEL-5)', async () => {
    await expectRow('openai-chat', 'openai/gpt', [USER, USER, null, null]);
  });

  it('sends images alone to Azure Chat (DEL-6)', async () => {
    await expectRow('azure-openai-chat', 'azure/gpt', [USER, null, null, null]);
  });

  it('adds the films of Kimi and Qwen on OpenAI-compatible servers (DEL-7) [MED-11]', async () => {
    await expectRow('openai-compatible', 'moonshot/kimi-k3', [USER, USER, USER, null]);
    await expectRow('openai-compatible', 'local/Qwen4-VL', [USER, USER, USER, null]);
    await expectRow('openai-compatible', 'local/llama', [USER, USER, null, null]);
  });

  it('sends everything to Gemini in a user turn (DEL-8)', async () => {
    await expectRow('google-gemini', 'google/gemini', [USER, USER, USER, USER]);
    await expectRow('google-vertex-gemini', 'vertex/gemini', [USER, USER, USER, USER]);
  });

  it('sends images alone to Cohere (DEL-9)', async () => {
    await expectRow('cohere-v2-chat', 'cohere/command', [USER, null, null, null]);
  });

  it('sends nothing where it knows nothing [MED-3]', () => {
    expect(placesOf('toString', 'a/b')).toEqual([null, null, null, null]);
  });

  it('has a row for each of the eleven adaptors and no other [MED-3]', () => {
    expect(DELIVERY_MATRIX.flatMap(({ families }) => families).toSorted()).toEqual([
      'anthropic',
      'anthropic-compatible',
      'aws-bedrock-converse',
      'azure-openai-chat',
      'azure-openai-responses',
      'cohere-v2-chat',
      'google-gemini',
      'google-vertex-gemini',
      'openai-chat',
      'openai-compatible',
      'openai-responses',
    ]);
  });
});
