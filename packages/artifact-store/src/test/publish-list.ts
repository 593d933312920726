// A second process for the tests of concurrent publishers: publishes the text of each [unit, count] of a JSON list, eight at a time.
import { randomIds, systemClock } from '@agentd/contract';
import { openArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';
import { SINGLE, captureAll, requestOf } from './stores.ts';

const [folder = '', list = '[]'] = process.argv.slice(2);
const repeats: [string, number][] = JSON.parse(list);
const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
const publishNext = async (): Promise<void> => {
  for (let next = repeats.pop(); next !== undefined; next = repeats.pop()) {
    const text = next[0].repeat(next[1]);
    const { retained } = await captureAll(store, requestOf(SINGLE), [{ text }]);
    process.stdout.write(`${retained?.reference.uri ?? 'not stored'}\n`);
  }
};
await Promise.all(Array.from({ length: 8 }, publishNext));
