// `npm run clauses`: which clauses have no test. With `--check` it fails where the ledger is not in order.
import { globSync, readFileSync } from 'node:fs';
import { definedIds, ledgerOf, titledCases, titledIds } from './src/ledger.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const cwd = root.pathname;

const tests = globSync(['packages/*/src/**/*.test.ts', 'apps/*/{src,test}/**/*.test.ts'], { cwd });
const mentions = tests.flatMap((file) => titledIds(read(file)).map((id) => ({ id, file })));
const defined = ['docs/spec/contract.md', 'docs/spec/interfaces.md'].flatMap((file) =>
  definedIds(read(file)),
);
const open = read('docs/spec/open-clauses.txt')
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => line !== '' && !line.startsWith('#'));
const { proved, missing, stale, unknown } = ledgerOf({ defined, mentions, open });

const cases = [...new Set(tests.flatMap((file) => titledCases(read(file))))];
console.log(
  `${proved.length} of ${defined.length} clauses have a test; field cases with a test: ${cases.length}`,
);
console.log(`without a test: ${defined.filter((id) => !proved.includes(id)).join(' ') || 'none'}`);
if (process.argv.includes('--cases')) console.log(`field cases: ${cases.toSorted().join(' ')}`);

const problems = [
  ...missing.map((id) => `${id} has no test and is not listed in docs/spec/open-clauses.txt`),
  ...stale.map(
    (id) => `${id} is listed in docs/spec/open-clauses.txt, but a test proves it or no document defines it`,
  ),
  ...unknown.map(({ id, file }) => `${file} names ${id}, which no document defines`),
];
for (const problem of problems) console.error(problem);
if (process.argv.includes('--check') && problems.length > 0) process.exitCode = 1;
