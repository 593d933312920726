import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { randomIds, systemClock } from '@agentd/contract';
import { turnParts } from '@agentd/contract/testing';
import { fileSessionStore } from './file/index.ts';
import { osLocks } from './file/testing/os-locks.ts';
import { runProgram } from './file/testing/run-program.ts';
import { temporaryFolders } from './file/testing/temporary-folder.ts';
import { assertValidRequest } from './testing/assert-valid-request.ts';
import { engineHarness, heldTool, runToEnd } from './testing/engine-harness.ts';

const makeFolder = temporaryFolders();

/** Lets a process run a session, kills it after `ms`, and goes on with the session. */
async function killAfter(ms: number) {
  const folder = await makeFolder();
  const program = runProgram('../../testing/run-without-end.ts', [folder]);
  const id = await program.nextLine();
  const first = await program.nextLine();
  await sleep(ms);
  const said = [first, ...(await program.kill())];
  const effects = async () =>
    (await readFile(join(folder, 'effects'), 'utf8').catch(() => '')).split('\n').slice(0, -1);
  const before = await effects();

  const { engine, model } = engineHarness({
    sessions: fileSessionStore({
      folder: join(folder, 'sessions'),
      locks: osLocks,
      clock: systemClock,
      ids: randomIds,
      engineVersion: 'test',
    }),
    turns: [turnParts('Recovered.')],
    tools: [heldTool('mark').tool],
    ports: { ids: randomIds },
  });
  const session = await engine.openSession(id);
  const end = await runToEnd(session, { clientRunId: 'after', input: 'go on' });
  await engine.stop();
  return { before, after: await effects(), end, request: model.requests[0]!, said };
}

describe('kill -9 of a process that runs a session', () => {
  it.each([0, 17, 61, 150])(
    'after %i ms: the session goes on, nothing acknowledged is missing, and nothing ran twice [SES-2] [SES-6]',
    async (ms) => {
      const { before, after, end, request, said } = await killAfter(ms);
      expect(end).toMatchObject({ status: 'completed', finalText: 'Recovered.' });
      assertValidRequest(request);
      const texts = request.messages.flatMap(({ role, content }) =>
        role === 'user' ? content.map(({ text }) => text) : [],
      );
      expect(texts.filter((text) => said.includes(text))).toEqual(said);
      expect(new Set(before).size).toBe(before.length);
      expect(after).toEqual(before);
      assertEffectsAreKnown(before, request);
    },
  );
});

/** A call that had an effect stands in the history, whether or not its result does. */
function assertEffectsAreKnown(
  effects: readonly string[],
  { messages }: Awaited<ReturnType<typeof killAfter>>['request'],
): void {
  const called = messages.flatMap(({ role, content }) =>
    role === 'assistant'
      ? content.flatMap((part) => (part.type === 'tool_call' ? [JSON.stringify(part.input)] : []))
      : [],
  );
  for (const label of effects) expect(called).toContain(JSON.stringify({ label }));
}
