import {
  isJsonObject,
  type AttachedFile,
  type JsonObject,
  type OutputChunk,
  type OutputDeclaration,
  type ToolError,
} from '@agentd/contract';
import { z } from 'zod';
import { engineError } from '../errors.ts';
import { isTooDeep } from '../event-shape.ts';
import { cutToBytes, presentable } from './bounded-text.ts';
import { callError } from './call-fault.ts';

/** The final display (OUT-9). */
const MAX_DISPLAY_BYTES = 64 * 1024;
const MAX_CLOSING_BYTES = 1024;
/** Metadata stands in an event line; large text belongs into the output. */
const MAX_METADATA_BYTES = 256 * 1024;
/** Deeper metadata would not fit into an event, and an event that cannot be written ends more than its call. */
const MAX_METADATA_DEPTH = 200;

/** From whatever realm the tool's code comes. */
const isBytes = (value: unknown): boolean => Object.prototype.toString.call(value) === '[object Uint8Array]';

const completion = z.object({
  output: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('single'), text: z.string() }),
    z.object({ kind: z.literal('named'), streams: z.record(z.string(), z.string()) }),
    z.object({ kind: z.literal('streamed') }),
  ]),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  metadata: z.unknown().optional(),
  attachments: z
    .array(
      z.object({
        record: z.object({ mime_type: z.string().max(255), filename: z.string().max(255).nullable() }),
        bytes: z.custom<Uint8Array>(isBytes),
      }),
    )
    .optional(),
  closingLine: z.string().optional(),
  display: z.string().optional(),
});

/** A completion that fits its declaration, made safe to store and to show. */
export interface CheckedCompletion {
  /** Output that is still to be captured. */
  readonly chunks: readonly OutputChunk[];
  readonly error: ToolError | null;
  readonly metadata: JsonObject;
  readonly closingLine: string;
  readonly attachments: readonly AttachedFile[];
  readonly display: string;
}

export interface CompletionTerms {
  readonly declaration: OutputDeclaration;
  /** Whether text was accepted while the call ran. */
  readonly streamed: boolean;
}

/** Reads a completion, which may be anything. Throws `execution_failed` where the tool broke its contract (OUT-10). */
export function checkedCompletion(value: unknown, terms: CompletionTerms): CheckedCompletion {
  const parsed = completion.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined ? '' : ` (${issue.path.join('.')}: ${issue.message})`;
    throw engineError('ENGINE_TOOL_BREACH', `returned something that is no completion${where}`);
  }
  const { output, error, metadata, attachments = [], closingLine = '', display = '' } = parsed.data;
  return {
    chunks: suppliedChunks(output, terms),
    error: error === undefined ? null : callError(error.code, error.message),
    metadata: plainMetadata(metadata),
    attachments,
    closingLine: cutToBytes(presentable(closingLine).replaceAll('\n', ' '), MAX_CLOSING_BYTES),
    display: cutToBytes(presentable(display), MAX_DISPLAY_BYTES),
  };
}

type Output = z.infer<typeof completion>['output'];

function suppliedChunks(output: Output, { declaration, streamed }: CompletionTerms): readonly OutputChunk[] {
  if (output.kind === 'streamed') return [];
  if (streamed) throw engineError('ENGINE_TOOL_BREACH', 'supplied its output again after streaming it');
  if (output.kind !== declaration.kind) {
    throw engineError(
      'ENGINE_TOOL_BREACH',
      `declares ${declaration.kind} output but supplied ${output.kind} output`,
    );
  }
  if (output.kind === 'single') return [{ text: output.text.toWellFormed() }];
  return namedChunks(output.streams, declaration.kind === 'named' ? declaration.streams : []);
}

function namedChunks(
  supplied: Readonly<Record<string, string>>,
  declared: readonly string[],
): readonly OutputChunk[] {
  const missing = declared.find((stream) => !Object.hasOwn(supplied, stream));
  if (missing !== undefined)
    throw engineError('ENGINE_TOOL_BREACH', `supplied no stream ${JSON.stringify(missing)}`);
  const unknown = Object.keys(supplied).find((stream) => !declared.includes(stream));
  if (unknown !== undefined) {
    throw engineError('ENGINE_TOOL_BREACH', `supplied the undeclared stream ${JSON.stringify(unknown)}`);
  }
  return declared.map((stream) => ({ stream, text: (supplied[stream] ?? '').toWellFormed() }));
}

/** A round trip leaves what JSON can carry; what has no JSON at all (a cycle, a bigint) throws. */
function plainMetadata(metadata: unknown): JsonObject {
  if (metadata === undefined) return {};
  const json = JSON.stringify(metadata) ?? 'null';
  if (Buffer.byteLength(json) > MAX_METADATA_BYTES) {
    throw engineError('ENGINE_TOOL_BREACH', `returned over ${MAX_METADATA_BYTES} bytes of metadata`);
  }
  const plain: unknown = JSON.parse(json);
  if (!isJsonObject(plain))
    throw engineError('ENGINE_TOOL_BREACH', 'returned metadata that is no JSON object');
  if (isTooDeep(plain, MAX_METADATA_DEPTH)) {
    throw engineError(
      'ENGINE_TOOL_BREACH',
      `returned metadata nested over ${MAX_METADATA_DEPTH} levels deep`,
    );
  }
  return plain;
}
