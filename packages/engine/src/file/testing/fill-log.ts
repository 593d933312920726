// A second process for the tests, run under a limit of the file size: appends until it is told that it cannot.
import { codeOf } from '@agentd/contract';
import { openLogFile } from '../log-file.ts';

const [path = ''] = process.argv.slice(2);
const file = await openLogFile(path);
try {
  await file.append(Buffer.from(`${'x'.repeat(999)}\n`.repeat(5)));
  process.stdout.write('written\n');
} catch (error) {
  process.stdout.write(`${codeOf(error)}\n`);
}
await file.close();
