// A second process for the tests: runs a session without end until it is killed, and says what it was told is durable.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool, randomIds, systemClock, type ModelClient } from '@agentd/contract';
import { sequenceModel, turnParts } from '@agentd/contract/testing';
import { fileSessionStore } from '../file/index.ts';
import { osLocks } from '../file/testing/os-locks.ts';
import { engineHarness, runInit } from './engine-harness.ts';

const [folder = ''] = process.argv.slice(2);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Its effect is a line in a file, written before the call ends. */
const mark = defineTool({
  name: 'mark',
  description: 'Marks.',
  action: 'read',
  concurrency: 'parallel',
  schema: z.strictObject({ label: z.string() }),
  prepare: async ({ label }) => ({
    permission: { action: 'read', label },
    operation: label,
    execute: async () => {
      appendFileSync(join(folder, 'effects'), `${label}\n`);
      await sleep(1);
      return { output: { kind: 'single', text: `marked ${label}` } };
    },
  }),
});

let count = 0;
const model: ModelClient = {
  info: sequenceModel([], { id: 'test/endless' }).info,
  stream: async function* () {
    count += 1;
    await sleep(1);
    const calls = ['x', 'y'].map((letter) => ({
      id: `c-${letter}-${count}`,
      tool: 'mark',
      args: { label: `${letter}-${count}` },
    }));
    yield* turnParts(`Turn ${count}.`, calls);
  },
};

const { engine } = engineHarness({
  sessions: fileSessionStore({
    folder: join(folder, 'sessions'),
    locks: osLocks,
    clock: systemClock,
    ids: randomIds,
    engineVersion: 'test',
  }),
  models: { 'test/endless': model },
  tools: [mark],
  ports: { ids: randomIds, clock: systemClock },
});
const session = await engine.createSession({ cwd: folder, agent: 'default' });
say(session.id);
const { runId } = await session.startRun(
  runInit({ input: 'said 0.', models: ['test/endless'], maxTurns: 1e9 }),
);
say('said 0.');
for (let number = 1; ; number += 1) {
  await session.steer(runId, `said ${number}.`);
  say(`said ${number}.`);
  await sleep(2);
}
