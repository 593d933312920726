/** More edits than this share of the word's length, and the two are hardly the same word. */
const FARTHEST_SHARE = 0.4;

/** The known word that is closest to what was written; undefined when none is close. */
export function nearest(written: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((word) => ({ word, edits: editDistance(written.toLowerCase(), word.toLowerCase()) }))
    .toSorted((a, b) => a.edits - b.edits || b.word.length - a.word.length);
  const [best] = ranked;
  if (best === undefined) return undefined;
  return best.edits <= Math.max(1, Math.floor(best.word.length * FARTHEST_SHARE)) ? best.word : undefined;
}

/** The number of insertions, removals, replacements and swaps of neighbours between two words. */
function editDistance(a: string, b: string): number {
  let beforePrevious: readonly number[] = [];
  let previous: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          at(previous, column - 1) + (same ? 0 : 1),
          at(previous, column) + 1,
          at(current, column - 1) + 1,
          swapped ? at(beforePrevious, column - 2) + 1 : Infinity,
        ),
      );
    }
    [beforePrevious, previous] = [previous, current];
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
