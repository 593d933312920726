export type TableKind = 'table' | 'row' | 'cell';

const TAGS: Readonly<Record<TableKind, string>> = { table: 'table', row: 'tr', cell: 'td' };

export interface CellSpans {
  readonly columns: number;
  readonly rows: number;
}

const SINGLE: CellSpans = { columns: 1, rows: 1 };

/** Those of HTML, less what no table needs. */
const MAX_SPAN = 100;

/** How a table's own tags were written, so that it can still turn out to be there for the layout. */
interface TablePart {
  readonly index: number;
  readonly kind: TableKind;
  readonly isClosing: boolean;
}

/** A table of more rows or wider rows is shown in pieces: laying one out takes time quadratic in its size. */
const MAX_ROWS = 1000;
const MAX_CELLS_PER_ROW = 100;
/** How many places of the grid the cells of one piece may take beyond their own. */
const MAX_SPANNED = 4000;

/**
 * The tags of one table. A table that holds another one, or that says so, arranges a page and holds no data: its cells
 * become blocks, one below the other.
 */
export class TableMarkup {
  readonly #parts: string[];
  readonly #written: TablePart[] = [];
  #isLayout: boolean;
  #rows = 0;
  #spanned = 0;
  #cells = 0;

  constructor(parts: string[], isLayout: boolean) {
    this.#parts = parts;
    this.#isLayout = isLayout;
  }

  open(kind: TableKind, spans: CellSpans = SINGLE): void {
    if (kind === 'row') this.#startRow();
    if (kind === 'cell') this.#cells += 1;
    this.#write({ index: this.#parts.length, kind, isClosing: false }, this.#spanAttributes(spans));
  }

  close(kind: TableKind): void {
    this.#write({ index: this.#parts.length, kind, isClosing: true }, '');
  }

  get isRowFull(): boolean {
    return this.#cells >= MAX_CELLS_PER_ROW;
  }

  /** Turns what was written into blocks, and what will be. */
  becomeLayout(): void {
    if (this.#isLayout) return;
    this.#isLayout = true;
    for (const part of this.#written.splice(0)) this.#parts[part.index] = layoutTag(part);
  }

  #startRow(): void {
    this.#cells = 0;
    this.#rows += 1;
    if (this.#rows % MAX_ROWS !== 0) return;
    this.#spanned = 0;
    this.close('table');
    this.open('table');
  }

  /** Nothing once the grid would grow too large. */
  #spanAttributes({ columns, rows }: CellSpans): string {
    const spanned = columns * rows - 1;
    if (spanned === 0 || this.#spanned + spanned > MAX_SPANNED) return '';
    this.#spanned += spanned;
    return ` colspan="${columns}" rowspan="${rows}"`;
  }

  #write(part: TablePart, spans: string): void {
    if (this.#isLayout) {
      this.#parts.push(layoutTag(part));
      return;
    }
    this.#written.push(part);
    this.#parts.push(part.isClosing ? `</${TAGS[part.kind]}>` : `<${TAGS[part.kind]}${spans}>`);
  }
}

/** How far a cell says that it spans. */
export function cellSpans({ colspan, rowspan }: Readonly<Record<string, string>>): CellSpans {
  return { columns: span(colspan), rows: span(rowspan) };
}

function span(attribute = ''): number {
  const given = Number.parseInt(attribute, 10);
  return given > 1 ? Math.min(given, MAX_SPAN) : 1;
}

function layoutTag({ kind, isClosing }: TablePart): string {
  if (kind === 'row') return '';
  return isClosing ? '</div>' : '<div>';
}
