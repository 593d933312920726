#!/usr/bin/env node
import { VERSION } from './version.ts';

/** Nothing else is loaded for the one question that scripts ask most. */
const asksVersion = process.argv.length === 3 && ['--version', '-V'].includes(process.argv[2] ?? '');

if (asksVersion) {
  process.stdout.write(`${VERSION}\n`);
} else {
  void import('./cli/main-command.ts')
    .then(({ runCommandLine }) => runCommandLine(process.argv.slice(2)))
    .then((exitCode) => process.exit(exitCode))
    .catch((error: unknown) => {
      process.stderr.write(`agentd: ${String(error)}\n`);
      process.exit(1);
    });
}
