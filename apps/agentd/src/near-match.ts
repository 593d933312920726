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

/** The number of insertions, removals and replacements between two words. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...a].entries()) {
    const current = [row + 1];
    for (let column = 1; column <= b.length; column += 1) {
      const replaced = (previous[column - 1] ?? 0) + (letter === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
