import { MAX_OUTPUT_STREAMS, declarationProblem } from '@agentd/contract';
import { z } from 'zod';
import { storedReference } from './artifact-uri.ts';

/** One stream as a manifest names it (ART-17). */
export interface ManifestStream {
  readonly name: string;
  readonly sha256: string;
  readonly byte_length: number;
  readonly line_count: number;
}

/** The longest manifest has eight streams of some 300 bytes; anything larger is something else. */
export const MAX_MANIFEST_BYTES = 16 * 1024;

/** One line of JSON without white space, its keys in the order of ART-17: equal output has an equal digest. */
export function formatManifest(streams: readonly ManifestStream[]): string {
  return JSON.stringify({
    kind: 'output_manifest',
    version: 1,
    streams: streams.map(({ name, sha256, byte_length, line_count }) => ({
      name,
      reference: storedReference(sha256),
      sha256,
      byte_length,
      line_count,
    })),
  });
}

const count = z.number().int().nonnegative();

const manifestSchema = z.strictObject({
  kind: z.literal('output_manifest'),
  version: z.literal(1),
  streams: z
    .array(
      z.strictObject({
        name: z.string(),
        reference: z.strictObject({ uri: z.string() }),
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        byte_length: count,
        line_count: count,
      }),
    )
    .min(1)
    .max(MAX_OUTPUT_STREAMS),
});

/** The streams of a manifest, or null where the text is something else (ART-7). */
export function parseManifest(text: string): readonly ManifestStream[] | null {
  const parsed = manifestSchema.safeParse(jsonOf(text));
  if (!parsed.success) return null;
  const { streams } = parsed.data;
  const names = streams.map(({ name }) => name);
  if (declarationProblem({ kind: 'named', streams: names }) !== undefined) return null;
  // What merely says the same was not written by a store: output of a tool, say, that printed a manifest.
  return formatManifest(streams) === text ? streams : null;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON, so not a manifest.
  }
}
