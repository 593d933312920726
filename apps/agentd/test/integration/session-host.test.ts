import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { fileLocks } from '@agentd/artifact-store';
import { randomIds, systemClock, type ModelClient, type SessionFacts } from '@agentd/contract';
import { memoryOutputStore, sequenceModel, turnParts } from '@agentd/contract/testing';
import { createDelegation, type DelegationLedger } from '@agentd/delegation';
import { sessionHostCases } from '@agentd/delegation/testing';
import { createEngine, type AgentDocument, type EngineHost, type Session } from '@agentd/engine';
import { fileSessionStore } from '@agentd/engine/file';
import { inboxOpener } from '@agentd/messaging';
import { inboxLogCases, messagingPortCases } from '@agentd/messaging/testing';

const AGENT: AgentDocument = {
  id: 'explore',
  description: 'Explores.',
  mode: 'all',
  models: [],
  permissions: [{ action: 'message', pattern: '*', effect: 'allow' }],
  maxOutputTokens: null,
  prompt: 'You explore.',
};

const cleanUps: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp();
});

/** The engine's own host, on real files, with a model that answers when the test says so. */
async function setup() {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-host-'));
  const base = { folder, locks: fileLocks, clock: systemClock, ids: randomIds };
  const sessions = fileSessionStore({ ...base, engineVersion: 'test' });
  const model = heldModel();
  const captured: { host?: EngineHost<DelegationLedger> } = {};
  const engine = createEngine<DelegationLedger>(
    {
      clock: systemClock,
      ids: randomIds,
      sessions,
      outputs: memoryOutputStore(),
      models: { open: async () => model.client },
      agents: { find: (id) => (id === AGENT.id ? AGENT : undefined), ids: () => [AGENT.id] },
      tools: [],
      notes: { load: async () => null },
      approver: { ask: async () => ({ decision: 'reject', source: 'policy', feedback: null }) },
      inbox: inboxOpener(randomIds),
      runDefaults: () => ({ models: ['test/held'], maxTurns: 5, timeoutMs: 60_000 }),
      extend: (host) => {
        captured.host = host;
        const rules = { verdict: () => 'allow' as const };
        const { openLedger } = createDelegation({
          host,
          agents: { list: async () => [] },
          rules,
          ids: randomIds,
        });
        return { tools: [], ledger: openLedger };
      },
    },
    {
      version: 'test',
      outputLimits: { maxLines: 10, maxBytes: 1000, maxCaptureBytes: 1000 },
      retry: { standard: 0, overload: 0, ceilingMs: 0 },
      // Every idle child goes at once: nobody may notice.
      residency: { maxResident: 0, idleMs: 0 },
    },
  );
  cleanUps.push(async () => {
    await engine.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const host = captured.host!;
  const open = (): Promise<Session> => engine.createSession({ cwd: folder, agent: AGENT.id });
  const factsOf = async ({ id }: Session): Promise<SessionFacts> => (await host.find(id))!;
  return { engine, sessions, model, host, open, factsOf };
}

function heldModel() {
  const waiting = new Map<string, (text: string) => void>();
  const client: ModelClient = {
    info: sequenceModel([], { id: 'test/held' }).info,
    stream: async function* ({ session }, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      waiting.set(session.id, resolve);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      yield* turnParts(await promise);
    },
  };
  return { client, waiting };
}

describe('the engine keeps the contract of a session host', () => {
  it.each(sessionHostCases)('$name [DLG-11]', async ({ run }) => {
    const { engine, model, host, open, factsOf } = await setup();
    const session = await open();
    await run({
      host,
      root: await factsOf(session),
      stranger: await factsOf(await open()),
      agent: AGENT.id,
      end: async (sessionId, text) => {
        const { waiting } = model;
        while (!waiting.has(sessionId)) await new Promise((resolve) => setTimeout(resolve, 1));
        const { runId } = (await host.run(sessionId))!;
        waiting.get(sessionId)?.(text);
        waiting.delete(sessionId);
        while (
          (await host.run(sessionId))?.runId === runId &&
          (await host.run(sessionId))?.status === 'running'
        )
          await new Promise((resolve) => setTimeout(resolve, 1));
      },
      stop: () => engine.stop(),
    });
  });

  // Nothing can be reverted yet (SES-7).
  const cases = messagingPortCases.filter(({ name }) => !name.includes('reverted'));
  it.each(cases)('$name, for messages [MSG-2]', async ({ run }) => {
    const { engine, host, open, factsOf } = await setup();
    const parent = await factsOf(await open());
    const child = await host.createChild({
      sessionId: randomIds.uuid(),
      handle: 'explore_00000001',
      agent: AGENT.id,
      title: 'Task',
      origin: {
        rootId: parent.sessionId,
        parentId: parent.sessionId,
        parentRunId: randomIds.uuid(),
        toolCallId: randomIds.uuid(),
        invocationId: 'i',
        depth: 1,
      },
    });
    await run({
      ports: {
        directory: host,
        inboxes: {
          use: (id, work) => host.use(id, ({ inbox, log }) => work({ inbox, sync: () => log.sync() })),
        },
        waker: host,
        rules: { reach: () => true },
        shutdown: host.shutdown,
      },
      parent,
      child,
      stranger: await factsOf(await open()),
      removeChild: async () => undefined,
      stop: () => engine.stop(),
    });
  });

  it.each(inboxLogCases)('$name, in a session’s log [MSG-2]', async ({ run }) => {
    const { sessions, host, open } = await setup();
    const { id } = await open();
    await host.use(id, async ({ log }) => {
      await run({ log, afterCrash: async () => (await sessions.read(id)).events });
      await log.sync();
    });
    expect((await sessions.read(id)).events.length).toBeGreaterThan(1);
  });
});
