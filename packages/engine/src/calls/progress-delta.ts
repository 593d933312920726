import { streamsOf, toolError, type OutputChunk, type OutputDeclaration } from '@agentd/contract';
import { z } from 'zod';
import { engineError } from '../errors.ts';

/** Bounds of one progress delta (OUT-8, OUT-9). */
const MAX_CHUNKS = 8;
const MAX_TEXT_BYTES = 64 * 1024;
const MAX_NOTE_BYTES = 1024;

const progress = z.object({
  chunks: z.array(z.object({ stream: z.string().nullish(), text: z.string() })).optional(),
  message: z.string().optional(),
  display: z.string().optional(),
});

/** A delta that keeps every bound. */
export interface ProgressDelta {
  readonly chunks: readonly OutputChunk[];
  readonly message: string | null;
  readonly display: string | null;
}

/**
 * Reads a delta, which may be anything. Throws tool errors: `resource_limit` over a bound, `execution_failed` where the
 * tool breaks its own declaration. Nothing of a refused delta counts.
 */
export function progressDelta(value: unknown, declaration: OutputDeclaration): ProgressDelta {
  const parsed = progress.safeParse(value);
  if (!parsed.success) throw engineError('ENGINE_TOOL_BREACH', 'reported something that is no progress');
  const { chunks = [], message = null, display = null } = parsed.data;
  checkBounds(chunks);
  checkNote('message', message);
  checkNote('display', display);
  return { chunks: chunks.map((chunk) => declaredChunk(chunk, declaration)), message, display };
}

function checkBounds(chunks: readonly { readonly text: string }[]): void {
  if (chunks.length > MAX_CHUNKS) {
    throw toolError('resource_limit', `a report takes at most ${MAX_CHUNKS} chunks, not ${chunks.length}`);
  }
  const bytes = chunks.reduce((total, { text }) => total + Buffer.byteLength(text), 0);
  if (bytes > MAX_TEXT_BYTES) {
    throw toolError('resource_limit', `a report takes at most ${MAX_TEXT_BYTES} bytes of text, not ${bytes}`);
  }
}

function checkNote(field: string, text: string | null): void {
  const bytes = text === null ? 0 : Buffer.byteLength(text);
  if (bytes > MAX_NOTE_BYTES) {
    throw toolError(
      'resource_limit',
      `the ${field} of a report takes at most ${MAX_NOTE_BYTES} bytes, not ${bytes}`,
    );
  }
}

function declaredChunk(
  { stream, text }: { readonly stream?: string | null | undefined; readonly text: string },
  declaration: OutputDeclaration,
): OutputChunk {
  if (streamsOf(declaration).includes(stream ?? null))
    return typeof stream === 'string' ? { stream, text } : { text };
  const given = typeof stream === 'string' ? `stream ${JSON.stringify(stream)}` : 'no stream';
  const wanted =
    declaration.kind === 'single' ? 'single output' : `the streams ${declaration.streams.join(', ')}`;
  throw engineError('ENGINE_TOOL_BREACH', `reported text for ${given}, but declares ${wanted}`);
}
