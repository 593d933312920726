import { describe, expect, it } from '@jest/globals';
import { flush, manualClock } from '@agentd/contract/testing';
import type { McpProgress } from './mcp-shapes.ts';
import { ProgressFeed } from './progress-feed.ts';

function setup(send: () => Promise<void> = async () => {}) {
  const clock = manualClock();
  const sent: McpProgress['params'][] = [];
  const sendNotification = async ({ params }: McpProgress): Promise<void> => {
    sent.push(params);
    await send();
  };
  const feed = ProgressFeed.of({ _meta: { progressToken: 't' }, sendNotification }, clock);
  if (feed === null) throw new Error('no feed');
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await flush();
  };
  return { feed, sent, pass, said: () => sent.map(({ progress, message }) => `${progress} ${message}`) };
}

describe('ProgressFeed', () => {
  it('is none where the client gave no token', () => {
    const sendNotification = async (): Promise<void> => {};
    expect(ProgressFeed.of({ sendNotification }, manualClock())).toBeNull();
    expect(ProgressFeed.of({ _meta: {}, sendNotification }, manualClock())).toBeNull();
  });

  it('P1 P2 tells the first news at once and later ones at its pace, the newest line of each', async () => {
    const { feed, sent, pass, said } = setup();
    feed.output('one\ntwo');
    await pass(0);
    feed.output(' and a half\n');
    feed.message('at three');
    await pass(249);
    expect(said()).toEqual(['1 two']);
    await pass(1);
    expect(said()).toEqual(['1 two', '2 at three']);
    expect(sent[0]).toEqual({ progressToken: 't', progress: 1, message: 'two' });
  });

  it('P2 waits for a client that is slow to take the last one', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { feed, pass, said } = setup(() => promise);
    feed.output('a');
    feed.output('b');
    await pass(10_000);
    expect(said()).toEqual(['1 a']);
    resolve();
    await pass(0);
    expect(said()).toEqual(['1 a', '2 ab']);
  });

  it('P3 is a sign of life while nothing is said', async () => {
    const { pass, said } = setup();
    for (let second = 0; second < 7; second++) await pass(1000);
    expect(said()).toEqual(['1 running for 3 s', '2 running for 6 s']);
  });

  it('P4 is silent once it is closed', async () => {
    const { feed, pass, sent } = setup();
    feed.output('a');
    await pass(0);
    feed.output('b');
    feed.close();
    await pass(10_000);
    feed.output('c');
    await pass(10_000);
    expect(sent).toHaveLength(1);
  });

  it('says nothing that could command a terminal, and goes on past a client that is gone', async () => {
    const { feed, pass, said } = setup(async () => {
      throw new Error('closed');
    });
    feed.output('\u001B[31mred\u001B[0m\u0007 half \uD800\r\n');
    await pass(0);
    feed.output('next\n');
    await pass(250);
    expect(said()).toEqual(['1 red  half \uFFFD', '2 next']);
  });
});
