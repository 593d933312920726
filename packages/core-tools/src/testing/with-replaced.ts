import { decodeAs, encodeText } from '../target/text-encoding.ts';
import type { Place } from '../mutate/text-places.ts';
import { spliced } from '../mutate/text-units.ts';

/** A text with `replacement` at each of the places, by way of its bytes; in UTF-16 the units are those of a string. */
export function withReplaced(text: string, places: readonly Place[], replacement: string): string {
  return decodeAs(spliced(encodeText(text, 'utf-16le'), { places, replacement }, 'utf-16le'), 'utf-16le');
}
