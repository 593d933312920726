// A process of its own that runs hostile tools: what they leave unhandled would end it. Prints the outcomes as JSON.
import { AgentdError, type ToolProgress } from '@agentd/contract';
import { flush } from '@agentd/contract/testing';
import { callOf, fakeTool, said, turnFixture } from './turn-fixture.ts';

const bad = { chunks: [{ stream: 'undeclared', text: 'x' }] } satisfies ToolProgress;
const late = Promise.withResolvers<void>();

const tools = [
  fakeTool({
    name: 'ignores_refusals',
    execute: async ({ report }) => {
      for (let index = 0; index < 100; index++) void report(bad);
      return said('');
    },
  }),
  fakeTool({
    name: 'reports_late',
    execute: async ({ report }) => {
      void late.promise.then(() => void report({ chunks: [{ text: 'late' }] }));
      return said('');
    },
  }),
  fakeTool({
    name: 'rejects_late',
    execute: () => late.promise.then(() => Promise.reject(new AgentdError('LATE', 'late'))),
  }),
  fakeTool({ name: 'rejects_on_dispose', dispose: () => Promise.reject(new AgentdError('DISPOSE', 'x')) }),
  fakeTool({
    name: 'prepares_late',
    onPrepare: () => late.promise.then(() => Promise.reject(new AgentdError('X', 'x'))),
  }),
];

const { run, cancel, clock } = turnFixture(tools);
const first = run(tools.slice(0, 4).map(({ spec }) => callOf(spec.name)));
await flush();
cancel.abort();
clock.advance(3000);
const { reports } = await first;

const second = turnFixture(tools);
const outcome = second.run([callOf('prepares_late')]);
await flush();
second.cancel.abort();
second.clock.advance(3000);
const all = [...reports, ...(await outcome).reports];

late.resolve();
await flush();
await flush();
process.stdout.write(JSON.stringify(all.map(({ outcome }) => outcome)));
