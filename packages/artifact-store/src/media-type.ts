interface Signature {
  readonly type: string;
  /** Latin-1. */
  readonly bytes: string;
  readonly at?: number;
}

/** First bytes of what tools and people attach. */
const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', bytes: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', bytes: '\xff\xd8\xff' },
  { type: 'image/gif', bytes: 'GIF8' },
  { type: 'image/webp', bytes: 'WEBP', at: 8 },
  { type: 'audio/wav', bytes: 'WAVE', at: 8 },
  { type: 'application/pdf', bytes: '%PDF-' },
  { type: 'video/mp4', bytes: 'ftyp', at: 4 },
  { type: 'video/webm', bytes: '\x1a\x45\xdf\xa3' },
  { type: 'audio/mpeg', bytes: 'ID3' },
  { type: 'audio/mpeg', bytes: '\xff\xfb' },
  { type: 'audio/ogg', bytes: 'OggS' },
  { type: 'application/zip', bytes: 'PK\x03\x04' },
  { type: 'application/gzip', bytes: '\x1f\x8b' },
];

/** What bytes that are no text probably are, for an error message; no decision rests on it (ART-16). */
export function probableMediaType(firstBytes: Uint8Array): string {
  const start = Buffer.from(firstBytes).toString('latin1');
  const found = SIGNATURES.find(({ bytes, at = 0 }) => start.startsWith(bytes, at));
  return found?.type ?? 'application/octet-stream';
}
