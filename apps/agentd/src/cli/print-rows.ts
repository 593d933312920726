import type { Screen } from './screen.ts';
import { printable } from './printable.ts';

/** Prints rows as aligned columns, each on a line of its own; the last column may be as long as it likes. */
export function printRows(screen: Pick<Screen, 'print'>, rows: readonly (readonly string[])[]): void {
  const table = rows.map((row) => row.map(onOneLine));
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((row) => (row[column] ?? '').length)),
  );
  for (const row of table) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
    );
    screen.print(`${printable(cells.join('  ').trimEnd())}\n`);
  }
}

/** Titles are written by models: one with a line break would look like a row of its own, and a tab breaks the columns. */
function onOneLine(cell: string): string {
  return cell.replaceAll(/ *[\t\n\v\f\r\u0085\u2028\u2029]\s*/g, ' ');
}
