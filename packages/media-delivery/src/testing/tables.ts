import type { MediaKind } from '@agentd/contract';
import { DELIVERY_MATRIX, type DeliveryCell } from '../delivery-matrix.ts';
import { COMMON_LIMITS, FAMILY_LIMITS, roundSize } from '../limits.ts';
import { MEDIA_FORMATS } from '../media-formats.ts';

const COLUMNS: readonly (readonly [MediaKind, string])[] = [
  ['image', 'images'],
  ['pdf', 'PDF'],
  ['video', 'video'],
  ['audio', 'audio'],
];

const PLACES = { tool_result: 'tool result', user_turn: 'user turn', no: 'no' } as const;

/** The tables of the README, as Markdown; a test holds them against it. */
export const readmeTables = (): readonly string[] => [matrix(), limits(), formats()];

function matrix(): string {
  return tableOf([
    ['family', ...COLUMNS.map(([, title]) => title)],
    ...DELIVERY_MATRIX.map((row) => [
      `${row.title} (${row.families.map((family) => `\`${family}\``).join(', ')})`,
      ...COLUMNS.map(([kind]) => cellText(row[kind])),
    ]),
  ]);
}

function cellText(cell: DeliveryCell): string {
  return typeof cell === 'string'
    ? PLACES[cell]
    : `${PLACES[cell.place]} on capable ${cell.lines.join(' and ')} models`;
}

function limits(): string {
  const rows = Object.entries({ ...FAMILY_LIMITS, 'every other family': COMMON_LIMITS });
  return tableOf([
    ['family', ...COLUMNS.map(([, title]) => title), 'whole request, as base64'],
    ...rows.map(([family, row]) => [
      family.includes(' ') ? family : `\`${family}\``,
      ...COLUMNS.map(([kind]) => roundSize(row[kind] ?? COMMON_LIMITS[kind])),
      row.requestBase64Bytes === undefined ? '' : roundSize(row.requestBase64Bytes),
    ]),
  ]);
}

function formats(): string {
  return tableOf([
    ['kind', 'formats'],
    ...COLUMNS.map(([kind, title]) => [
      title,
      MEDIA_FORMATS.filter((format) => format.kind === kind)
        .map(({ label, mimeType }) => `${label} (\`${mimeType}\`)`)
        .join(', '),
    ]),
  ]);
}

/** Columns padded as the formatter wants them. */
function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_title, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
