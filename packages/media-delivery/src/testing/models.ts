import type { Attachment, Modality, ModelInfo } from '@agentd/contract';

/** A model that takes everything, unless told otherwise. */
export function modelOf(family: string, more: Partial<ModelInfo> = {}): ModelInfo {
  const input: readonly Modality[] = ['text', 'image', 'pdf', 'audio', 'video'];
  return {
    id: 'lab/omni-1',
    provider: 'lab',
    model: 'omni-1',
    family,
    input,
    toolCalling: true,
    contextTokens: 100_000,
    outputTokens: 8000,
    ...more,
  };
}

/** An attachment with a digest of its own for each `seed`. */
export function attachmentOf(seed: number, more: Partial<Attachment> = {}): Attachment {
  const sha256 = seed.toString(16).padStart(12, '0').padEnd(64, 'f');
  return {
    mime_type: 'image/png',
    byte_length: 1000,
    sha256,
    filename: `file ${seed}.png`,
    reference: { uri: `artifact://${sha256}` },
    ...more,
  };
}
