import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, members, read } from './workspace.ts';

const run = promisify(execFile);

/** The first TypeScript block of a README: the example that a newcomer copies. */
function exampleOf(folder: string): string {
  return /^```ts\n(.*?)^```/ms.exec(read(`${folder}/README.md`))?.[1] ?? '';
}

describe('the example at the top of a README', () => {
  it.each(members().filter(({ folder }) => folder.startsWith('packages/')))(
    '$folder runs and prints',
    async ({ folder }) => {
      const example = exampleOf(folder);
      expect(example).not.toBe('');
      // Inside the package, so that its own name and its dependencies resolve as they do for a user.
      const scratch = join(ROOT, folder, 'dist', `.readme-${process.pid}`);
      await mkdir(scratch, { recursive: true });
      try {
        const file = join(scratch, 'example.ts');
        await writeFile(file, example);
        const { stdout } = await run(process.execPath, ['--conditions=@agentd/source', file], {
          cwd: scratch,
        });
        expect(stdout.trim()).not.toBe('');
      } finally {
        await rm(scratch, { recursive: true, force: true });
      }
    },
  );
});
