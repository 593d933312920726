// A second process for the tests: makes or opens a session, tells how that went, then appends and syncs without end.
import { countingIds } from '@agentd/contract/testing';
import { messageOf, systemClock } from '@agentd/contract';
import { fileSessionStore } from '../index.ts';
import { osLocks } from './os-locks.ts';
import { created, input } from './sample-events.ts';

const [folder = '', sessionId = '', what] = process.argv.slice(2);
const store = fileSessionStore({
  folder,
  locks: osLocks,
  clock: systemClock,
  ids: countingIds(),
  engineVersion: '0.0.0',
});
const say = (word: string): boolean => process.stdout.write(`${word}\n`);

try {
  const { log } = await (what === 'create' ? store.create(sessionId, created) : store.open(sessionId));
  say(`owned ${process.pid} ${new Date(performance.timeOrigin).toISOString()}`);
  for (let count = 1; ; count++) {
    const { seq } = log.append(input(`${count} `.repeat(200)), null);
    await log.sync();
    say(`synced ${seq}`);
  }
} catch (error) {
  say(`refused ${messageOf(error)}`);
}
