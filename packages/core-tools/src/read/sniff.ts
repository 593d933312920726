interface Signature {
  readonly type: string;
  readonly magic: string;
  readonly at?: number;
  /** A second magic behind the first, for containers. */
  readonly further?: { readonly at: number; readonly magic: string };
}

/** First match wins. Latin-1 text of the bytes that a format starts with. */
const SIGNATURES: readonly Signature[] = [
  { type: 'image/png', magic: '\x89PNG\r\n\x1a\n' },
  { type: 'image/jpeg', magic: '\xff\xd8\xff' },
  { type: 'image/gif', magic: 'GIF87a' },
  { type: 'image/gif', magic: 'GIF89a' },
  { type: 'image/webp', magic: 'RIFF', further: { at: 8, magic: 'WEBP' } },
  { type: 'audio/wav', magic: 'RIFF', further: { at: 8, magic: 'WAVE' } },
  { type: 'video/x-msvideo', magic: 'RIFF', further: { at: 8, magic: 'AVI ' } },
  { type: 'application/pdf', magic: '%PDF-' },
  { type: 'audio/mpeg', magic: 'ID3' },
  { type: 'audio/mpeg', magic: '\xff\xfb' },
  { type: 'audio/ogg', magic: 'OggS' },
  { type: 'audio/flac', magic: 'fLaC' },
  { type: 'video/mp4', magic: 'ftyp', at: 4 },
  { type: 'video/webm', magic: '\x1a\x45\xdf\xa3' },
  { type: 'video/x-flv', magic: 'FLV\x01' },
  { type: 'video/mpeg', magic: '\x00\x00\x01\xba' },
  { type: 'application/zip', magic: 'PK\x03\x04' },
  { type: 'application/zip', magic: 'PK\x05\x06' },
  { type: 'application/gzip', magic: '\x1f\x8b' },
  { type: 'application/x-bzip2', magic: 'BZh' },
  { type: 'application/x-xz', magic: '\xfd7zXZ\x00' },
  { type: 'application/zstd', magic: '\x28\xb5\x2f\xfd' },
  { type: 'application/x-7z-compressed', magic: "7z\xbc\xaf'\x1c" },
  { type: 'application/vnd.rar', magic: 'Rar!\x1a\x07' },
  { type: 'application/x-tar', magic: 'ustar', at: 257 },
  { type: 'application/x-elf', magic: '\x7fELF' },
  { type: 'application/x-msdownload', magic: 'MZ' },
  { type: 'application/wasm', magic: '\x00asm' },
  { type: 'application/vnd.sqlite3', magic: 'SQLite format 3\x00' },
  { type: 'application/x-ole-storage', magic: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1' },
];

/** So far into a file the signatures reach. */
const SNIFFED_BYTES = 512;

/** What the first bytes of a file that is no text say it is. The name of the file plays no part. */
export function sniffedType(head: Uint8Array): string {
  const text = Buffer.from(head.subarray(0, SNIFFED_BYTES)).toString('latin1');
  const found = SIGNATURES.find(
    ({ magic, at = 0, further }) =>
      text.startsWith(magic, at) && (further === undefined || text.startsWith(further.magic, further.at)),
  );
  return found?.type ?? 'application/octet-stream';
}

/** A PDF may be pure ASCII and is media all the same; every other known format has bytes that no text has. */
export function isMediaThoughText(head: Uint8Array): boolean {
  return sniffedType(head) === 'application/pdf';
}
