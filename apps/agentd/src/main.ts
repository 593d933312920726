#!/usr/bin/env node
import { EXIT } from './exit-codes.ts';
import { VERSION } from './version.ts';

/** Nothing else is loaded for the one question that scripts ask most. */
const asksVersion = process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2] ?? '');

/** An older Node fails in the middle of things, with words that nobody understands. */
const OLDEST_NODE = 24;
const nodeIsOld = Number(process.versions.node.split('.')[0]) < OLDEST_NODE;

if (asksVersion) {
  process.stdout.write(`${VERSION}\n`);
} else if (nodeIsOld) {
  process.stderr.write(`agentd: needs Node ${OLDEST_NODE} or newer, and this is ${process.versions.node}\n`);
  process.exitCode = EXIT.setUp;
} else {
  void import('./cli/main-command.ts')
    .then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
    .then(async (exitCode) => {
      await written();
      process.exit(exitCode);
    })
    .catch((error: unknown) => {
      process.stderr.write(`agentd: ${String(error)}\n`);
      process.exit(1);
    });
}

/** Once the reader of a pipe has taken all of the output, or has gone: an exit drops what is still on its way. */
function written(): Promise<void> {
  return new Promise((resolve) => process.stdout.write('', () => resolve()));
}
