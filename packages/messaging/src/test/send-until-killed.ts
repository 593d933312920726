import { writeSync } from 'node:fs';
import { randomIds } from '@agentd/contract';
import { inboxOpener } from '../inbox.ts';
import { memoryTree } from '../testing/memory-tree.ts';
import { openFileLog } from './file-log.ts';
import { sending } from './sending.ts';

// Two senders write to one recipient whose log is a file, and its runs read them, until somebody kills the process.
// Prints the body of each message once its sender was told that it is accepted.
const [path = '', life = ''] = process.argv.slice(2);
const log = openFileLog(path);
const tree = memoryTree();
const lead = tree.add({ agent: 'lead' });
const inbox = inboxOpener(randomIds)({ log, events: log.events });
inbox.release();
const ports: typeof tree.ports = {
  ...tree.ports,
  inboxes: {
    use: (id, work) =>
      id === lead.sessionId ? work({ inbox, sync: log.sync }) : tree.ports.inboxes.use(id, work),
  },
};
const { send } = sending({ ...tree, ports });

async function sendOn(agent: string): Promise<void> {
  const sender = tree.add({ agent, parent: lead });
  for (let count = 0; ; count += 1) {
    const body = `${agent}:${life}:${count}`;
    const told = await send(sender, { to: lead.handle, body }).then(
      () => true,
      () => false,
    );
    if (told) writeSync(1, `${body}\n`);
    else await new Promise((resolve) => setImmediate(resolve));
  }
}

async function runOn(): Promise<void> {
  for (let run = 0; ; run += 1) {
    const runId = `${life}-${run}`;
    inbox.apply(log.append({ type: 'run_started' }, runId));
    const claimed = inbox.claim({ runId, kind: 'run_start', canReply: () => true });
    const through = log.append({ type: 'model_attempt_started' }, runId).seq;
    await new Promise((resolve) => setImmediate(resolve));
    // Every third turn fails, and its messages come again.
    if (claimed.length > 0 && run % 3 !== 2)
      inbox.apply(log.append({ type: 'model_turn_committed', input_through_seq: through }, runId));
    await new Promise((resolve) => setImmediate(resolve));
    inbox.apply(log.append({ type: run % 3 === 2 ? 'run_failed' : 'run_completed' }, runId));
    inbox.release();
  }
}

void Promise.all([sendOn('a'), sendOn('b'), runOn()]);
