import { startsWith } from './byte-reader.ts';

/** The first that fits wins; a trailing blank is part of a brand. */
const BRANDS: readonly (readonly [RegExp, string])[] = [
  [/^qt {2}$/, 'video/quicktime'],
  [/^3g/, 'video/3gpp'],
  [/^(?:isom|iso[2-9a-c]|mp4[12]|mp71|avc1|dash|M4V[ HP]|mmp4|MSNV|NDS[CHMPSX]|F4V |cmfc)$/, 'video/mp4'],
  [/^(?:avif|avis)$/, 'image/avif'],
  [/^(?:hei[cxms]|hev[cxms])$/, 'image/heic'],
  [/^(?:M4[ABP] |F4[AB] )$/, 'audio/mp4'],
  [/^crx $/, 'image/x-canon-cr3'],
  [/^jp2 $/, 'image/jp2'],
];

/** Generic image brands: the compatible ones say what is coded. */
const IMAGE_BRANDS = /^(?:mif[12]|msf1|miaf)$/;

/** Boxes with which QuickTime files from before brands begin. */
const OLD_QUICKTIME = ['moov', 'mdat', 'wide', 'free', 'skip', 'pnot'];

/** The type that an ISO base media file declares; undefined for anything else. */
export function isoType(head: Uint8Array): string | undefined {
  if (!startsWith(head, 'ftyp', 4)) {
    const isOld = OLD_QUICKTIME.some((type) => startsWith(head, type, 4)) && head[0] === 0;
    return isOld ? 'video/quicktime' : undefined;
  }
  const brands = brandsOf(head);
  const types = brands.flatMap((brand) => BRANDS.find(([pattern]) => pattern.test(brand))?.[1] ?? []);
  const [major = ''] = brands;
  const image = types.find((type) => type.startsWith('image/'));
  if (IMAGE_BRANDS.test(major)) return image ?? 'image/heif';
  return types[0] ?? `a file of brand ${JSON.stringify(major)}`;
}

/** Major brand first, then the compatible ones. */
function brandsOf(head: Uint8Array): readonly string[] {
  const size = head.subarray(0, 4).reduce((sum, byte) => sum * 256 + byte, 0);
  const end = Math.min(size, head.length);
  const brands = [text(head, 8)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(text(head, at));
  return brands;
}

const text = (head: Uint8Array, at: number): string =>
  String.fromCharCode(...head.subarray(at, at + 4)).replace(/[^\x20-\x7e]/g, '.');
