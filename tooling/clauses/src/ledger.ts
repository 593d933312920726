/** One test title, or what stands for it in the source, that names clauses. */
export interface Mention {
  readonly id: string;
  readonly file: string;
}

export interface LedgerInput {
  /** Ids that the specification defines, in its order. */
  readonly defined: readonly string[];
  /** Ids that tests name. */
  readonly mentions: readonly Mention[];
  /** Ids that are known to have no test yet. */
  readonly open: readonly string[];
}

export interface Ledger {
  readonly proved: readonly string[];
  /** Defined, without a test, and not listed as open. */
  readonly missing: readonly string[];
  /** Listed as open although a test proves it, or although nobody defines it. */
  readonly stale: readonly string[];
  /** Named by a test and defined nowhere. */
  readonly unknown: readonly Mention[];
}

/** Holds tests against the specification and the list of open clauses. */
export function ledgerOf({ defined, mentions, open }: LedgerInput): Ledger {
  const known = new Set(defined);
  const tested = new Set(mentions.map(({ id }) => id));
  const listed = new Set(open);
  return {
    proved: defined.filter((id) => tested.has(id)),
    missing: defined.filter((id) => !tested.has(id) && !listed.has(id)),
    stale: open.filter((id) => tested.has(id) || !known.has(id)),
    unknown: mentions.filter(({ id }) => !known.has(id)),
  };
}

/** The ids that a document of the specification defines: a list item or a table row that begins with one. */
export function definedIds(markdown: string): string[] {
  return [...markdown.matchAll(/^(?:- |\| )([A-Z]{2,}-\d+) /gm)].map(([, id]) => id ?? '');
}

/** A string literal whose text ends with marks such as `[ART-5] [field B13]`: how every title of ours ends. */
const TITLE = /(['"`])(?:\\.|(?!\1)[^\\\n])*?\S ((?:\[[^\]\n]+\] ?)+)\1\s*,/g;

function titleMarks(source: string): string[] {
  return [...source.matchAll(TITLE)].flatMap(([, , marks]) =>
    [...(marks ?? '').matchAll(/\[([^\]]+)\]/g)].map(([, mark]) => mark ?? ''),
  );
}

/** The ids in the titles of a test file; ids elsewhere (comments, data) prove nothing. */
export function titledIds(source: string): string[] {
  return titleMarks(source).filter((mark) => /^[A-Z]{2,}-\d+$/.test(mark));
}

/** The field cases in the titles of a test file, e.g. `B13`. */
export function titledCases(source: string): string[] {
  return titleMarks(source).flatMap((mark) => /^field ([A-Z]\d+)$/.exec(mark)?.[1] ?? []);
}
