import type { CaptureResult, OutputLimits, RetainedOutput, RetainedStream } from '@agentd/contract';
import { formatArtifactUri, storedReference } from './artifact-uri.ts';
import type { PreviewText } from './preview.ts';
import type { PublishedStream } from './publication.ts';
import { cutPreviews, renderResult } from './result-text.ts';
import type { StoredStream, StreamCapture } from './stream-capture.ts';

export interface StoredOutput {
  readonly streams: readonly PublishedStream[];
  /** Of the one stream, or of the manifest. */
  readonly digest: string;
  readonly limits: OutputLimits;
  /** Bytes that were left out (OUT-21). */
  readonly missing: number;
  /** Whether the call ended before its output did (OUT-16). */
  readonly incomplete: boolean;
}

/** What the model sees and what the event records of output that was published (OUT-5, ART-17). */
export function describeStored(output: StoredOutput): Pick<CaptureResult, 'text' | 'retained'> {
  const { digest, limits, missing, incomplete } = output;
  const cuts = cutPreviews(previewsOf(output.streams.map(({ capture }) => capture)), limits);
  const streams = output.streams.map(({ capture, stored }, index) =>
    retainedStream(capture, stored, cuts[index]),
  );
  const retained: RetainedOutput = {
    reference: storedReference(digest),
    incomplete: incomplete || missing > 0,
    missing_bytes: missing,
    streams,
  };
  const shown = streams.map(({ name, next_offset: offset }, index) => {
    const more = offset === null ? null : { uri: formatArtifactUri({ digest, stream: name }), offset };
    return { name, text: cuts[index]?.text ?? '', more };
  });
  const note =
    missing === 0
      ? null
      : `${missing} bytes beyond the capture limit of ${limits.maxCaptureBytes} bytes were not stored`;
  return { text: renderResult(shown, note), retained };
}

/** What the model sees of output that could not be stored: previews, the reason, and no URI (OUT-13). */
export function describeUnstored(
  streams: readonly StreamCapture[],
  limits: OutputLimits,
  reason: string,
): string {
  const cuts = cutPreviews(previewsOf(streams), limits);
  const shown = streams.map(({ name }, index) => ({ name, text: cuts[index]?.text ?? '', more: null }));
  return renderResult(shown, `full output not stored: ${reason}`);
}

function previewsOf(streams: readonly StreamCapture[]): readonly StreamCapture['preview'][] {
  return streams.map(({ preview }) => preview);
}

function retainedStream(
  { name }: StreamCapture,
  { sha256, byte_length, line_count }: StoredStream,
  cut: PreviewText | undefined,
): RetainedStream {
  const offset = cut?.nextOffset ?? null;
  return {
    name,
    reference: storedReference(sha256),
    sha256,
    byte_length,
    line_count,
    truncated: cut?.truncated ?? false,
    // Unseen text that was not stored either cannot be paged (OUT-21).
    next_offset: offset !== null && offset < line_count ? offset : null,
  };
}
