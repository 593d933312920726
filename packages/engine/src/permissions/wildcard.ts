/**
 * Whether a permission pattern matches the whole of a resource label: `*` is any run of characters (line ends and `/`
 * included), `?` is one (PERM-1). It never takes more than |pattern| × |text| steps, whatever the pattern is.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  // Only `?` can tell a code point from a code unit, so plain strings serve without one.
  return pattern.includes('?') ? matches(Array.from(pattern), Array.from(text)) : matches(pattern, text);
}

/** Only the newest star is ever widened: what earlier stars took leaves the longest rest, so it need not change. */
function matches(pattern: ArrayLike<string>, text: ArrayLike<string>): boolean {
  let at = 0;
  let star = -1;
  let starEnd = 0;
  for (let index = 0; index < text.length;) {
    if (pattern[at] === '*') {
      star = at++;
      starEnd = index;
    } else if (pattern[at] === '?' || (at < pattern.length && pattern[at] === text[index])) {
      at++;
      index++;
    } else if (star === -1) {
      return false;
    } else {
      at = star + 1;
      index = ++starEnd;
    }
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

/** How exact a pattern is (PERM-2). */
export interface PatternWeight {
  readonly literals: number;
  readonly wildcards: number;
}

export function weightOf(pattern: string): PatternWeight {
  const characters = Array.from(pattern);
  const wildcards = characters.filter((character) => character === '*' || character === '?').length;
  return { literals: characters.length - wildcards, wildcards };
}
