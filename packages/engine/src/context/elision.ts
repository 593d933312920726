import type { CallReport } from '@agentd/contract';
import type { StartedCall, TurnCall } from '../call-ledger.ts';
import type { EventOf } from '../events.ts';
import { soundAttachments } from '../history-parts.ts';
import type { Step } from '../session-state.ts';
import { bytesOf, mediaTokens } from './estimate.ts';
import { excerpt } from './shorten.ts';
import type { StoredOutput } from './stored-output.ts';
import { TOOL_CONTENT_FORMAT } from './tool-content.ts';

/** Smaller outputs stay: what stands in their place would not be much shorter (SES-8). */
export const BULKY_BYTES = 8 * 1024;

const SHORTENED = '\nShortened, it was:\n';

/** Where a marker leads, without what it shows of the output. */
export function leadOf(marker: string): string {
  return marker.split(SHORTENED, 1)[0] ?? marker;
}

/** Outputs of the newest turns stay (SES-8). */
export const FRESH_TURNS = 2;

/** A result that can be taken out. */
export interface ElidableCall extends TurnCall {
  readonly started: StartedCall;
  readonly report: CallReport;
}

/** The bulky results of some turns, in their order. A film counts with its flat cost (MED-7). */
export function bulkyResults(steps: readonly Step[]): readonly ElidableCall[] {
  return steps.flatMap(({ calls }) => calls.filter(isBulky));
}

export function bulkOf({ text, attachments }: CallReport): number {
  return Buffer.byteLength(text) + bytesOf(mediaTokens(attachments));
}

function isBulky(call: TurnCall): call is ElidableCall {
  const { started, report, marker } = call;
  return started !== null && report !== null && marker === null && bulkOf(report) >= BULKY_BYTES;
}

export interface ElisionInit {
  readonly stored: StoredOutput;
  /** It was stored in ART-13's form. */
  readonly isToolContent: boolean;
  /** Characters of the output that stay to be seen. */
  readonly shown: number;
}

/** The event that takes a result out of the history, with its files, as one unit (MED-9). */
export function elisionOf(
  { started, report }: ElidableCall,
  { stored, isToolContent, shown }: ElisionInit,
): EventOf<'tool_output_elided'> {
  const bytes = Buffer.byteLength(report.text);
  const reads = stored.uris.map((uri) => `read(filePath=${JSON.stringify(uri)})`).join(', ');
  const lead = [
    `[output taken out to save context: ${bytes} bytes]`,
    `Read what you still need of it: ${reads}`,
    ...(isToolContent
      ? [`Stored as ${TOOL_CONTENT_FORMAT}: "text" lists its lines, references in it lead to the original.`]
      : []),
    ...((report.retained_output?.missing_bytes ?? 0) > 0 ? ['It was not stored to its end.'] : []),
    ...filesLine(report),
  ].join('\n');
  const shortened = report.text.trim() === '' ? '' : SHORTENED + excerpt(report.text, shown).trim();
  const references = stored.references.map(({ uri }) => ({ uri }));
  return {
    type: 'tool_output_elided',
    tool_call_id: started.callId,
    marker: lead + shortened,
    byte_length: bytes,
    references,
  };
}

function filesLine(report: CallReport): readonly string[] {
  const { attachments = [] } = soundAttachments(report);
  if (attachments.length === 0) return [];
  const names = attachments.map(({ filename, mime_type: type }) => `${filename ?? 'a file'} (${type})`);
  return [`Taken out with it: ${names.join(', ')}. Read the source again where you must see it once more.`];
}
