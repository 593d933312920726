import type { Screen } from './screen.ts';

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

/** A title or a path may hold what a terminal would obey; shown, it must not. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, '\uFFFD');
}
