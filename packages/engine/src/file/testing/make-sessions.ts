// A second process for the tests: makes sessions without end and tells each one's id.
import { randomIds, systemClock } from '@agentd/contract';
import { fileSessionStore } from '../index.ts';
import { osLocks } from './os-locks.ts';
import { created } from './sample-events.ts';

const [folder = ''] = process.argv.slice(2);
const store = fileSessionStore({
  folder,
  locks: osLocks,
  clock: systemClock,
  ids: randomIds,
  engineVersion: '0.0.0',
});
for (;;) {
  const id = randomIds.uuid();
  const { release } = await store.create(id, created);
  process.stdout.write(`${id}\n`);
  await release();
}
