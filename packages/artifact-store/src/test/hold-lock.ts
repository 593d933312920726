// A second process for the tests: takes a lock, says so, and holds it until it is killed.
import { fileLocks } from '../file-locks.ts';

const [path = '', kind] = process.argv.slice(2);
const lock = await (kind === 'shared'
  ? fileLocks.tryShared(path)
  : fileLocks.tryExclusive(path, String(process.pid)));
process.stdout.write(lock === null ? 'refused\n' : 'held\n');
setInterval(() => {}, 60_000);
