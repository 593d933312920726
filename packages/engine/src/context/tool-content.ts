import { Buffer } from 'node:buffer';
import type { CallReport } from '@agentd/contract';

/** What markers call the format. */
export const TOOL_CONTENT_FORMAT = 'serialized tool content (JSON)';

/** In characters. Longer lines are stored in pieces, so that every page of the artifact can be read. */
const LONGEST_PIECE = 8000;

/**
 * A result as one JSON text (ART-13): `text` is a list whose pieces, joined, are what the model saw, one line an
 * element. References in it lead to the full original.
 */
export function toolContent(tool: string, report: CallReport): Uint8Array {
  const { outcome, error, text, metadata, attachments, retained_output } = report;
  const content = {
    format: 'tool_content_json',
    version: 1,
    tool,
    outcome,
    error,
    text: text.split(/(?<=\n)/).flatMap(pieces),
    metadata,
    attachments,
    retained_output,
  };
  return Buffer.from(`${JSON.stringify(content, null, 1)}\n`);
}

function pieces(line: string): readonly string[] {
  const count = Math.max(1, Math.ceil(line.length / LONGEST_PIECE));
  return Array.from({ length: count }, (_, index) =>
    line.slice(index * LONGEST_PIECE, (index + 1) * LONGEST_PIECE),
  );
}
