/** An indirect reference. */
export interface PdfReference {
  readonly object: number;
}

export type PdfDictionary = ReadonlyMap<string, PdfValue>;

/** Names carry their slash; the content of strings is of no interest here. */
export type PdfValue =
  | null
  | boolean
  | number
  | string
  | PdfReference
  | readonly PdfValue[]
  | PdfDictionary
  | PdfString;

export interface PdfString {
  readonly isString: true;
}

export const PDF_STRING: PdfString = { isString: true };

export function isReference(value: PdfValue | undefined): value is PdfReference {
  return typeof value === 'object' && value !== null && 'object' in value;
}

export function isDictionary(value: PdfValue | undefined): value is PdfDictionary {
  return value instanceof Map;
}

export function isArray(value: PdfValue | undefined): value is readonly PdfValue[] {
  return Array.isArray(value);
}

/** A whole number that can be an offset or a count. */
export function isCount(value: PdfValue | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
