import { createHash } from 'node:crypto';
import {
  toolError,
  type AdmittedMedia,
  type MediaBytes,
  type MediaCandidate,
  type MediaGate,
} from '@agentd/contract';
import { placeOf } from './delivery-matrix.ts';
import { attachmentName } from './filename.ts';
import type { MediaFacts } from './formats/facts.ts';
import { refusalOf } from './gate-rules.ts';
import { inspect } from './inspect.ts';
import { DEFAULT_MAX_PDF_PAGES } from './limits.ts';
import { acceptedKinds, type MediaFormat } from './media-formats.ts';
import { sniff } from './sniff.ts';
import { described, quoted } from './wording.ts';

export interface MediaGateOptions {
  /** For models that say nothing of pages; 100 by default (MED-11). */
  readonly maxPdfPages?: number;
}

/** The gate that every file passes on its way to a model (MED-1 to MED-4, MED-8, MED-11). It keeps no state. */
export function createMediaGate({ maxPdfPages = DEFAULT_MAX_PDF_PAGES }: MediaGateOptions = {}): MediaGate {
  return {
    admit: async ({ content: given, name, model }, signal) => {
      const content = given instanceof Uint8Array ? inMemory(given) : given;
      const sniffed = await sniff(content, signal);
      if (sniffed.type === 'other') return null;
      if (sniffed.type === 'foreign') {
        throw toolError(
          'media_invalid',
          `${described(name, sniffed.mimeType, content.byteLength)} was not attached: ${sniffed.mimeType} is none of the accepted kinds, which are ${acceptedKinds()}. Convert it to one of them with bash and read that.`,
        );
      }
      const { format } = sniffed;
      const refusal = refusalOf({ ...format, name, byteLength: content.byteLength }, model);
      if (refusal !== undefined) throw toolError(refusal.code, refusal.message);
      const bytes = await wholeOf(content, name, signal);
      checkInside(bytes, { format, name, maxPdfPages: model?.media?.pdf?.maxPages ?? maxPdfPages });
      return admitted(bytes, format, { name, model });
    },
  };
}

const inMemory = (bytes: Uint8Array): MediaBytes => ({
  byteLength: bytes.length,
  read: async (offset, length) => bytes.subarray(offset, offset + length),
});

async function wholeOf(content: MediaBytes, name: string | null, signal: AbortSignal): Promise<Uint8Array> {
  const bytes = await content.read(0, content.byteLength, signal);
  if (bytes.length !== content.byteLength) {
    throw toolError('stale', `${quoted(name)} became shorter while it was read; read it again`);
  }
  return bytes;
}

interface Subject {
  readonly format: MediaFormat;
  readonly name: string | null;
  readonly maxPdfPages: number;
}

function checkInside(bytes: Uint8Array, subject: Subject): void {
  const { format, name } = subject;
  const found = inspect(bytes, format);
  const what = `${described(name, format.mimeType, bytes.length)} was not attached`;
  if (found.ok) return checkPages(found.facts, what, subject);
  if (found.code === 'MEDIA_OVERSIZED') {
    throw toolError(
      'media_too_large',
      `${what}: ${found.problem}. Make a smaller file of it with bash and read that.`,
    );
  }
  throw toolError('media_invalid', `${what}: it is no complete ${format.label} file: ${found.problem}`);
}

function checkPages({ pages = 0 }: MediaFacts, what: string, { maxPdfPages }: Subject): void {
  if (pages <= maxPdfPages) return;
  throw toolError(
    'media_too_large',
    `${what}: it has ${pages} pages, and at most ${maxPdfPages} can be read at once. Take the pages you need out of it with bash, for example "qpdf IN.pdf --pages . 1-${maxPdfPages} -- OUT.pdf" or "pdftotext -f 1 -l ${maxPdfPages} IN.pdf -", and read that.`,
  );
}

function admitted(
  bytes: Uint8Array,
  { kind, mimeType }: MediaFormat,
  { name, model }: Pick<MediaCandidate, 'name' | 'model'>,
): AdmittedMedia {
  return {
    kind,
    record: {
      mime_type: mimeType,
      byte_length: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      filename: attachmentName(name),
    },
    bytes,
    place: model === null ? null : placeOf(model, kind),
  };
}
