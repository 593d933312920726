import type { MediaKind, ModelInfo } from '@agentd/contract';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Raw bytes of one file of each kind. */
export interface FamilyLimits extends Readonly<Record<MediaKind, number>> {
  /** All media of one request as base64, together with its text. */
  readonly requestBase64Bytes?: number;
}

/** Of every family that is not named, and of every kind that a named one does not name (MED-4). */
export const COMMON_LIMITS: FamilyLimits = {
  image: 20 * MIB,
  pdf: 20 * MIB,
  audio: 20 * MIB,
  video: 25 * MIB,
};

/** What the providers take inline, by adaptor id (MED-4). */
export const FAMILY_LIMITS: Readonly<Record<string, Partial<FamilyLimits>>> = {
  // 10 MiB as base64.
  anthropic: { image: 7.5 * MIB },
  'anthropic-compatible': { image: 7.5 * MIB },
  // Video is the most that stays under 25 MiB as base64.
  'aws-bedrock-converse': { image: 3.75 * MIB, pdf: 4.5 * MIB, video: 19_660_797 },
  'google-vertex-gemini': { image: 7 * MIB },
  'google-gemini': {
    image: 14 * MIB,
    pdf: 14 * MIB,
    audio: 14 * MIB,
    video: 14 * MIB,
    requestBase64Bytes: 20 * MIB,
  },
};

/** Files of one kind in one request, where the model says nothing (MED-11). */
export const DEFAULT_MAX_COUNT = 20;

/** Pages of one PDF: `media.pdf.max_pages` (MED-11). */
export const DEFAULT_MAX_PDF_PAGES = 100;

/** What one tool result may carry together (MED-10). */
export const ATTACHMENT_BUDGET = { maxBytes: 32 * MIB, maxCount: 16 } as const;

/** A flat and careful guess for a film, in tokens (MED-7). */
export const VIDEO_TOKENS = 40_000;

export const limitsOfFamily = (family: string): FamilyLimits => ({
  ...COMMON_LIMITS,
  ...(Object.hasOwn(FAMILY_LIMITS, family) ? FAMILY_LIMITS[family] : {}),
});

/** Raw bytes that a file of `kind` may have for a model: the smaller of its own limit and its family's (MED-4). */
export function maxBytesOf({ family, media }: Pick<ModelInfo, 'family' | 'media'>, kind: MediaKind): number {
  const { maxBytes = Infinity, maxBase64Bytes = Infinity } = media?.[kind] ?? {};
  const asRaw = maxBase64Bytes === Infinity ? Infinity : Math.floor(maxBase64Bytes / 4) * 3;
  return Math.min(maxBytes, asRaw, limitsOfFamily(family)[kind]);
}

/** How many files of `kind` one request to a model may hold (MED-6). */
export const maxCountOf = ({ media }: Pick<ModelInfo, 'media'>, kind: MediaKind): number =>
  media?.[kind]?.maxCount ?? DEFAULT_MAX_COUNT;

export const base64Bytes = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** A size as people read it, exact where it is rounded: "7.5 MiB (7864321 bytes)". */
export function sizeText(bytes: number): string {
  return bytes < KIB ? `${bytes} bytes` : `${roundSize(bytes)} (${bytes} bytes)`;
}

/** The same without the exact count. */
export function roundSize(bytes: number): string {
  if (bytes < KIB) return `${bytes} bytes`;
  const isSmall = bytes < MIB;
  return `${Number((bytes / (isSmall ? KIB : MIB)).toFixed(2))} ${isSmall ? 'KiB' : 'MiB'}`;
}
