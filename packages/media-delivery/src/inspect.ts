import { codeOf, messageOf } from '@agentd/contract';
import type { FormatFaultCode } from './formats/fault.ts';
import type { MediaFacts } from './formats/facts.ts';
import type { MediaFormat } from './media-formats.ts';

export type Inspection =
  | { readonly ok: true; readonly facts: MediaFacts }
  | { readonly ok: false; readonly code: FormatFaultCode; readonly problem: string };

/** Whether `bytes` are one complete file of `format`. Time and memory are in proportion to their length (MED-1). */
export function inspect(bytes: Uint8Array, format: MediaFormat): Inspection {
  try {
    return { ok: true, facts: format.walk(bytes) };
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'MEDIA_MALFORMED' && code !== 'MEDIA_OVERSIZED') throw error;
    return { ok: false, code, problem: messageOf(error) };
  }
}
