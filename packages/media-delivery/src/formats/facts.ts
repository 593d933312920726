import { malformed, oversized } from './fault.ts';

/** What a walk learns on its way. */
export interface MediaFacts {
  /** Pixels. */
  readonly width?: number;
  readonly height?: number;
  /** Of a PDF. */
  readonly pages?: number;
}

/** Walks a complete file. Throws a format fault, and nothing else, for anything that is not one. */
export type Walk = (bytes: Uint8Array) => MediaFacts;

/** A longer side makes an image that no provider takes (MED-1). */
const MAX_SIDE = 16_384;
const MAX_PIXELS = 64 * 1024 * 1024;

/** Passes the size of an image on, or refuses it before a single pixel is looked at (MED-1). */
export function imageSize(width: number, height: number): MediaFacts {
  if (width < 1 || height < 1) malformed(`the header says ${width}×${height} pixels`);
  if (width > MAX_SIDE || height > MAX_SIDE) {
    oversized(`the image is ${width}×${height} pixels; a side may have ${MAX_SIDE} at most`);
  }
  if (width * height > MAX_PIXELS) {
    oversized(`the image is ${width}×${height} = ${width * height} pixels; ${MAX_PIXELS} is the most`);
  }
  return { width, height };
}
