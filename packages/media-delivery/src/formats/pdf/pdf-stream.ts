import { codeOf } from '@agentd/contract';
import { inflateSync } from 'node:zlib';
import { malformed, oversized } from '../fault.ts';
import { isArray, isCount, isDictionary, type PdfDictionary, type PdfValue } from './pdf-value.ts';

/** Of all streams of one file that have to be unpacked to count its pages. */
export const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;

export interface PdfStream {
  readonly dictionary: PdfDictionary;
  /** As it stands in the file. */
  readonly data: Uint8Array;
}

/** The content of a stream that is part of the file's own structure. */
export function unpack({ dictionary, data }: PdfStream, maxBytes: number): Uint8Array {
  const filter = only(dictionary.get('/Filter'));
  if (filter === undefined || filter === null) return data;
  if (filter !== '/FlateDecode' && filter !== '/Fl') {
    malformed(
      `its structure is packed with ${typeof filter === 'string' ? filter : 'several filters'}, which cannot be checked`,
    );
  }
  const parameters = only(dictionary.get('/DecodeParms') ?? dictionary.get('/DP'));
  const plain = inflate(data, maxBytes);
  return isDictionary(parameters) ? undoPredictor(plain, parameters) : plain;
}

function only(value: PdfValue | undefined): PdfValue | undefined {
  if (!isArray(value)) return value;
  return value.length > 1 ? malformed('its structure is packed several times over') : value[0];
}

function inflate(data: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return inflateSync(data, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') {
      oversized(`its structure unpacks to more than ${MAX_UNPACKED_BYTES} bytes`);
    }
    return malformed('a packed part of its structure is damaged');
  }
}

function undoPredictor(packed: Uint8Array, parameters: PdfDictionary): Uint8Array {
  const predictor = parameters.get('/Predictor') ?? 1;
  if (predictor === 1) return packed;
  const columns = parameters.get('/Columns') ?? 1;
  const isByteWise =
    (parameters.get('/Colors') ?? 1) === 1 && (parameters.get('/BitsPerComponent') ?? 8) === 8;
  if (!isCount(predictor) || predictor < 10 || !isRowLength(columns) || !isByteWise) {
    malformed('its structure is packed with a predictor that cannot be checked');
  }
  return undoRows(packed, columns);
}

const isRowLength = (value: PdfValue): value is number => isCount(value) && value >= 1 && value <= 4096;

/** The five row filters of PNG, one byte a pixel. */
function undoRows(packed: Uint8Array, columns: number): Uint8Array {
  const rows = Math.floor(packed.length / (columns + 1));
  const plain = new Uint8Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    const type = packed[row * (columns + 1)] ?? 0;
    const [source, target] = [row * (columns + 1) + 1, row * columns];
    for (let column = 0; column < columns; column += 1) {
      const left = column > 0 ? (plain[target + column - 1] ?? 0) : 0;
      const up = row > 0 ? (plain[target + column - columns] ?? 0) : 0;
      const corner = column > 0 && row > 0 ? (plain[target + column - columns - 1] ?? 0) : 0;
      plain[target + column] = (packed[source + column] ?? 0) + predicted(type, { left, up, corner });
    }
  }
  return plain;
}

interface Neighbours {
  readonly left: number;
  readonly up: number;
  readonly corner: number;
}

function predicted(type: number, { left, up, corner }: Neighbours): number {
  if (type === 0) return 0;
  if (type === 1) return left;
  if (type === 2) return up;
  if (type === 3) return (left + up) >> 1;
  const guess = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
