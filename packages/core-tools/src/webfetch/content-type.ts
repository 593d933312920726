export interface ContentType {
  /** `type/subtype` in lower case. */
  readonly essence: string;
  /** The `charset` parameter, as declared. */
  readonly charset: string | null;
}

export type ContentKind = 'html' | 'text' | 'binary';

/** What a missing or invalid header counts as (WEB-7). */
const UNKNOWN: ContentType = { essence: 'application/octet-stream', charset: null };

const ESSENCE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/;
const CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))/i;

const HTML_TYPES = new Set(['text/html', 'application/xhtml+xml']);
const TEXT_TYPES = new Set([
  'application/json',
  'application/x-json',
  'application/jsonl',
  'application/ndjson',
  'application/x-ndjson',
  'application/json-seq',
  'application/xml',
  'application/javascript',
  'application/x-javascript',
  'application/ecmascript',
  'application/x-www-form-urlencoded',
  'application/yaml',
  'application/x-yaml',
  'application/toml',
]);

export function parseContentType(header: string | undefined): ContentType {
  if (header === undefined) return UNKNOWN;
  const [first = ''] = header.split(';', 1);
  const essence = first.trim().toLowerCase();
  if (!ESSENCE.test(essence)) return UNKNOWN;
  const [, quoted, single, bare] = CHARSET.exec(header) ?? [];
  return { essence, charset: (quoted ?? single ?? bare)?.trim() ?? null };
}

/** How a body of this type is treated (WEB-5, WEB-7). */
export function contentKind({ essence }: ContentType): ContentKind {
  if (HTML_TYPES.has(essence)) return 'html';
  const isText = essence.startsWith('text/') || TEXT_TYPES.has(essence) || /\+(?:json|xml)$/.test(essence);
  return isText ? 'text' : 'binary';
}
