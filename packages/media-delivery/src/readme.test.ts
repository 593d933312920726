import { readFile } from 'node:fs/promises';
import { expect, it } from '@jest/globals';
import { readmeTables } from './testing/tables.ts';

it('shows the matrix, the limits and the formats as the code has them (DEL-1) [MED-4]', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  for (const table of readmeTables()) expect(readme).toContain(table);
});
