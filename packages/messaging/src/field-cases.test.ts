import { describe, expect, it } from '@jest/globals';
import { codeOf } from '@agentd/contract';
import { deferred, flush } from '@agentd/contract/testing';
import type { MessagingSettings } from './settings.ts';
import { historyOf } from './test/history-of.ts';
import { sending } from './test/sending.ts';
import { tinyRun } from './test/tiny-loop.ts';
import { memoryTree } from './testing/memory-tree.ts';

function setup(changes: Partial<MessagingSettings> = {}) {
  const tree = memoryTree();
  const lead = tree.add({ agent: 'lead' });
  const worker = tree.add({ agent: 'worker', parent: lead });
  const other = tree.add({ agent: 'worker', parent: lead });
  return { tree, lead, worker, other, ...sending(tree, changes) };
}
const boundary = (runId: string) => ({ runId, kind: 'run_start', canReply: () => false }) as const;
/** The body of an enveloped message, or the line itself. */
const plain = (lines: readonly string[]) => lines.map((line) => line.split('\n')[1] ?? line);

describe('what users of agents met', () => {
  it('loses nothing that is sent while a model answers, a tool runs, or a run ends [MSG-3] [field G2]', async () => {
    const { lead, worker, send } = setup();
    const say = (body: string) => () => send(worker, { to: lead.handle, body });
    const ending = tinyRun(lead, 'r', [[say('in a call'), say('beside it')], [async () => undefined]]);
    await say('at the end')();
    const heard = plain(await ending);
    await say('after the end')();
    const later = plain(await tinyRun(lead, 'q', []));
    const all = [...heard, ...later].filter((line) => !/^(?:turn|result)/.test(line));
    expect(all.toSorted()).toEqual(['after the end', 'at the end', 'beside it', 'in a call']);
    expect(lead.inbox.unacknowledged()).toBe(0);
  });

  it('never puts a message between a call and its results [MSG-3] [field G4]', async () => {
    const { lead, worker, send } = setup();
    const slow = deferred();
    const fast = deferred();
    const running = tinyRun(lead, 'r', [[() => fast.promise, () => slow.promise]]);
    fast.resolve();
    await flush();
    await send(worker, { to: lead.handle, body: 'S' });
    slow.resolve();
    expect(plain(await running)).toEqual(['turn 0', 'result 0.0', 'result 0.1', 'S', 'turn 1']);
  });

  it('delivers after the call that was running, not after the last one of the run [MSG-3] [field G9]', async () => {
    const { lead, worker, send } = setup();
    const script = Array.from({ length: 10 }, (_, turn) => [
      async () => (turn === 2 ? send(worker, { to: lead.handle, body: 'S' }) : undefined),
    ]);
    const heard = plain(await tinyRun(lead, 'r', script));
    expect(heard.indexOf('S')).toBe(heard.indexOf('result 2.0') + 1);
  });

  it('keeps a queued message out of the middle of a run [MSG-11]', async () => {
    const { lead, worker, send } = setup();
    const script = [
      [async () => send(worker, { to: lead.handle, body: 'Q', mode: 'queue' })],
      [async () => undefined],
    ];
    expect(plain(await tinyRun(lead, 'r', script))).toEqual([
      'turn 0',
      'result 0.0',
      'turn 1',
      'result 1.0',
      'turn 2',
      'Q',
      'turn 3',
    ]);
  });

  it('lets a steering message overtake a queued one of the same sender in a run, and only there [MSG-3] [MSG-11]', async () => {
    const { lead, worker, send } = setup();
    const both = async () => {
      await send(worker, { to: lead.handle, body: 'Q', mode: 'queue' });
      await send(worker, { to: lead.handle, body: 'S' });
    };
    const busy = plain(await tinyRun(lead, 'r', [[both]]));
    expect(busy).toEqual(['turn 0', 'result 0.0', 'S', 'turn 1', 'Q', 'turn 2']);
    await both();
    expect(plain(await tinyRun(lead, 'q', []))).toEqual(['Q', 'S', 'turn 0']);
  });

  it('has the report before the notice that its sender ended, 200 of 200, with two senders [MSG-10] [field G8]', async () => {
    const { lead, worker, other, send } = setup();
    for (let round = 0; round < 100; round += 1) {
      const end = async (from: typeof worker) => {
        await send(from, { to: lead.handle, body: `report ${round}` });
        const notice = `notice\n${from.handle} ended`;
        const key = `end of ${from.handle} ${round}`;
        lead.inbox.accept({
          owner: 'delegation',
          from: from.handle,
          mode: 'steer',
          idempotencyKey: key,
          body: notice,
        });
      };
      const [heard] = await Promise.all([
        tinyRun(lead, `r${round}`, [[() => end(worker)], [() => end(other)]]),
        flush(),
      ]);
      const messages = plain(heard).filter((line) => !/^(?:turn|result)/.test(line));
      expect(messages).toEqual([
        `report ${round}`,
        `${worker.handle} ended`,
        `report ${round}`,
        `${other.handle} ended`,
      ]);
    }
  });

  it('ends an exchange of thanks by hops [MSG-7] [field G10]', async () => {
    const { lead, worker, send } = setup({ maxHops: 3 });
    const [first, second] = [lead, worker];
    await send(first, { to: second.handle, body: 'thanks' });
    const outcomes: unknown[] = [];
    for (let turn = 0; outcomes.at(-1) === undefined && turn < 20; turn += 1) {
      const [from, to] = turn % 2 === 0 ? [second, first] : [first, second];
      from.record({ type: 'run_started' }, `r${turn}`);
      from.inbox.claim(boundary(`r${turn}`));
      outcomes.push(await send(from, { to: to.handle, body: 'thanks' }).then(() => undefined, codeOf));
      from.record({ type: 'run_completed' }, `r${turn}`);
    }
    expect(outcomes).toEqual([undefined, undefined, undefined, 'send_message:max_hops_exceeded']);
  });

  it('ends questions to a busy agent by the window [MSG-7] [field G10]', async () => {
    const { lead, worker, send } = setup();
    worker.record({ type: 'run_started' }, 'r');
    const ask = () =>
      send(lead, { to: worker.handle, body: 'still working?' }).then(() => 'accepted', codeOf);
    const answers = [await ask(), await ask(), await ask(), await ask(), await ask()];
    expect(answers).toEqual(['accepted', 'accepted', 'accepted', 'accepted', 'send_message:inflight_full']);
    worker.inbox.claim(boundary('r'));
    expect(await ask()).toBe('send_message:inflight_full');
    worker.record({ type: 'model_turn_committed', input_through_seq: worker.log.events.length }, 'r');
    expect(await ask()).toBe('accepted');
  });

  it('acknowledges what a turn has read, not what a recipient went idle over [MSG-10] [field G11]', async () => {
    const { tree, lead, worker, send } = setup();
    await send(worker, { to: lead.handle, body: 'S' });
    lead.record({ type: 'run_started' }, 'r');
    lead.inbox.claim(boundary('r'));
    lead.record({ type: 'run_failed' }, 'r');
    lead.inbox.release();
    expect(lead.inbox.unacknowledged(worker.handle)).toBe(1);
    await lead.log.sync();
    const restarted = tree.restart(tree.restart(lead));
    expect(plain(await tinyRun(restarted, 'q', []))).toEqual(['S', 'turn 0']);
    const again = tree.restart(restarted);
    expect(plain(await tinyRun(again, 'p', []))).toEqual(['turn 0']);
    expect(historyOf(again.log.events)).toHaveLength(1);
  });

  it('takes 32 messages for an agent that never runs, and refuses the next [MSG-8] [field G12]', async () => {
    const { lead, worker, send } = setup({ maxInflightPerPair: 0 });
    for (let count = 0; count < 32; count += 1) {
      const { metadata } = await send(lead, { to: worker.handle, body: `${count}` });
      expect(metadata?.['recipient_state']).toBe('queued');
    }
    await expect(send(lead, { to: worker.handle, body: '33' })).rejects.toMatchObject({
      code: 'send_message:inbox_full',
    });
    expect(worker.log.events).toHaveLength(32);
  });

  it('drops a notice whose reason is gone before anybody reads it [MSG-10] [field G15]', async () => {
    const { lead, worker, send } = setup();
    const notice = { owner: 'goal', from: 'goal', mode: 'queue', body: 'go on with the goal' } as const;
    const { messageId } = lead.inbox.accept({ ...notice, idempotencyKey: 'goal 1' });
    await send(worker, { to: lead.handle, body: 'S' });
    lead.inbox.discard(messageId);
    expect(plain(await tinyRun(lead, 'r', []))).toEqual(['S', 'turn 0']);
  });
});
