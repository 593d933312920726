import type { Screen } from './screen.ts';
import { printable } from './printable.ts';

/** Prints rows as aligned columns; the last column may be as long as it likes. */
export function printRows(screen: Screen, rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0),
    );
    screen.print(`${printable(cells.join('  ').trimEnd())}\n`);
  }
}
