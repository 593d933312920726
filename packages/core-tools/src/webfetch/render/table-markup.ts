export type TableKind = 'table' | 'row' | 'cell';

const TAGS: Readonly<Record<TableKind, string>> = { table: 'table', row: 'tr', cell: 'td' };

/** How a table's own tags were written, so that it can still turn out to be there for the layout. */
interface TablePart {
  readonly index: number;
  readonly kind: TableKind;
  readonly isClosing: boolean;
}

/** A table of more rows or wider rows is shown in pieces: laying one out takes time quadratic in its size. */
const MAX_ROWS = 1000;
const MAX_CELLS_PER_ROW = 100;
const MAX_SPAN = 20;

/**
 * The tags of one table. A table that holds another one, or that says so, arranges a page and holds no data: its cells
 * become blocks, one below the other.
 */
export class TableMarkup {
  readonly #parts: string[];
  readonly #written: TablePart[] = [];
  #isLayout: boolean;
  #rows = 0;
  #cells = 0;

  constructor(parts: string[], isLayout: boolean) {
    this.#parts = parts;
    this.#isLayout = isLayout;
  }

  open(kind: TableKind, spans = ''): void {
    if (kind === 'row') this.#startRow();
    if (kind === 'cell') this.#cells += 1;
    this.#write({ index: this.#parts.length, kind, isClosing: false }, spans);
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
    this.close('table');
    this.open('table');
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

/** The span attributes of a cell, within what can be laid out. */
export function cellSpans(attributes: Readonly<Record<string, string>>): string {
  return ['colspan', 'rowspan']
    .map((name) => [name, Number.parseInt(attributes[name] ?? '', 10)] as const)
    .filter(([, span]) => span > 1)
    .map(([name, span]) => ` ${name}="${Math.min(span, MAX_SPAN)}"`)
    .join('');
}

function layoutTag({ kind, isClosing }: TablePart): string {
  if (kind === 'row') return '';
  return isClosing ? '</div>' : '<div>';
}
