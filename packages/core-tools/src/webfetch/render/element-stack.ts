import type { Scope } from './element-kinds.ts';
import { cellSpans, TableMarkup, type CellSpans } from './table-markup.ts';
import type { Attributes } from './tag-scanner.ts';
import type { TextFlow } from './text-flow.ts';

interface OpenElement {
  readonly kind: Exclude<Scope, 'rows'>;
  readonly closing: () => void;
  /** The table that a row or a cell belongs to, or the table itself. */
  readonly table?: TableMarkup;
}

/** Deeper than any page that is read; what nests further is shown without its own form. */
const MAX_DEPTH = 60;

/** How many elements a new one needs below the limit: a table has rows, which have cells. */
const ROOM: Readonly<Record<'list' | 'quote' | 'table', number>> = { list: 2, quote: 1, table: 3 };

/** For text in a table but in no cell: it must not widen the first column. */
const WIDE_CELL: CellSpans = { columns: 20, rows: 1 };

/**
 * The elements that are open, always nested rightly: what a tag implies is opened and closed, what a page forgot too.
 *   E1. An item is in a list, a row in a table, a cell in a row.
 *   E2. Never more than `MAX_DEPTH` are open.
 */
export class ElementStack {
  readonly #parts: string[];
  readonly #flow: TextFlow;
  readonly #open: OpenElement[] = [];
  /** Elements that were too deep to be opened: their closing tags mean nothing. */
  readonly #refused = new Map<Scope, number>();

  constructor(parts: string[], flow: TextFlow) {
    this.#parts = parts;
    this.#flow = flow;
  }

  open(scope: Scope, name: string, attributes: Attributes): void {
    switch (scope) {
      case 'list':
        return this.#openList(name, attributes);
      case 'item':
        return this.#openItem();
      case 'quote':
        return this.#openPlain('quote', 'blockquote', '');
      case 'table':
        return this.#openTable(attributes);
      case 'rows':
        return this.#leaveRow();
      case 'row':
        return this.#openRow();
      case 'cell':
        return this.#openCell(cellSpans(attributes));
    }
  }

  close(scope: Scope): void {
    const refused = this.#refused.get(scope) ?? 0;
    if (refused > 0) {
      this.#refused.set(scope, refused - 1);
      this.#flow.breakRun(1);
      return;
    }
    if (scope === 'rows') return this.#leaveRow();
    // A closing tag reaches its element, but not through the cell or the table around it.
    const barrier = scope === 'row' || scope === 'cell' ? 'table' : 'cell';
    const index = this.#lastIndex(scope, scope === 'table' ? null : barrier);
    if (index >= 0) this.#popFrom(index);
    else this.#flow.breakRun(1);
  }

  closeAll(): void {
    this.#popFrom(0);
  }

  /** Puts what comes next into a cell, where a table holds it outside of all cells. */
  enterCell(): void {
    const top = this.#open.at(-1);
    if (top?.kind === 'table' || top?.kind === 'row') this.#openCell(WIDE_CELL);
  }

  #openList(name: string, attributes: Attributes): void {
    const isOrdered = name === 'ol';
    this.#openPlain('list', isOrdered ? 'ol' : 'ul', isOrdered ? numbering(attributes) : '');
  }

  #openItem(): void {
    const list = this.#lastIndex('list', 'cell');
    if (list >= 0) this.#popFrom(list + 1);
    else this.#openPlain('list', 'ul', '');
    if (this.#open.at(-1)?.kind === 'list') this.#push('item', 'li', '');
  }

  #openPlain(kind: 'list' | 'quote', tag: string, attributes: string): void {
    if (this.#hasRoom(kind)) this.#push(kind, tag, attributes);
  }

  #openTable(attributes: Attributes): void {
    this.enterCell();
    for (const { table } of this.#open) table?.becomeLayout();
    if (!this.#hasRoom('table')) return;
    const table = new TableMarkup(this.#parts, /^(?:presentation|none)$/i.test(attributes['role'] ?? ''));
    this.#pushTablePart('table', table);
  }

  #leaveRow(): void {
    const table = this.#lastIndex('table', null);
    if (table >= 0) this.#popFrom(table + 1);
    else this.#flow.breakRun(1);
  }

  #openRow(): void {
    this.#leaveRow();
    const table = this.#open.at(-1)?.table;
    if (table !== undefined) this.#pushTablePart('row', table);
  }

  #openCell(spans: CellSpans): void {
    const table = this.#lastIndex('table', null);
    if (table < 0) {
      this.#flow.breakRun(1);
      return;
    }
    const row = this.#lastIndex('row', 'table');
    this.#popFrom(Math.max(row, table) + 1);
    const owner = this.#open.at(-1)?.table;
    if (owner === undefined) return;
    if (row < 0 || owner.isRowFull) this.#openRow();
    this.#pushTablePart('cell', owner, spans);
  }

  #hasRoom(kind: 'list' | 'quote' | 'table'): boolean {
    if (kind !== 'table') this.enterCell();
    if (this.#open.length + ROOM[kind] <= MAX_DEPTH) return true;
    this.#refused.set(kind, (this.#refused.get(kind) ?? 0) + 1);
    this.#flow.breakRun(1);
    return false;
  }

  #push(kind: 'list' | 'quote' | 'item', tag: string, attributes: string): void {
    this.#flow.tag(() => this.#parts.push(`<${tag}${attributes}>`), 'inside');
    this.#open.push({ kind, closing: () => void this.#parts.push(`</${tag}>`) });
  }

  #pushTablePart(kind: 'table' | 'row' | 'cell', table: TableMarkup, spans?: CellSpans): void {
    this.#flow.tag(() => table.open(kind, spans), 'inside');
    this.#open.push({ kind, table, closing: () => table.close(kind) });
  }

  #popFrom(index: number): void {
    while (this.#open.length > index) {
      const element = this.#open.pop();
      if (element !== undefined) this.#flow.tag(element.closing, 1);
    }
  }

  /** Where the innermost element of a kind is, or −1 when there is none inside of the barrier. */
  #lastIndex(kind: Scope, barrier: Scope | null): number {
    const index = this.#open.findLastIndex((element) => element.kind === kind || element.kind === barrier);
    return this.#open[index]?.kind === kind ? index : -1;
  }
}

/** The attributes of an ordered list that its numbers need; odd ones would come out as garbage. */
function numbering({ start, type }: Attributes): string {
  const first = start === undefined ? 1 : Number.parseInt(start, 10);
  if (!Number.isSafeInteger(first)) return '';
  const isLettered = /^[aAiI]$/.test(type ?? '') && first >= 1 && first <= 100;
  return ` start="${first}"${isLettered ? ` type="${type}"` : ''}`;
}
