import { describe, expect, it } from '@jest/globals';
import {
  acceptanceProblem,
  bodyProblem,
  recipientProblem,
  shutdownProblem,
  switchProblem,
} from './guards.ts';
import { DEFAULT_MESSAGING_SETTINGS, type MessagingSettings } from './settings.ts';

const inboxWith = (all: number, ofSender: number) => ({
  activeRun: null,
  waiting: 0,
  unacknowledged: (from?: string) => (from === undefined ? all : ofSender),
  highestHop: () => null,
  receiptOf: () => null,
});
const settings = (changes: Partial<MessagingSettings>): MessagingSettings => ({
  ...DEFAULT_MESSAGING_SETTINGS,
  ...changes,
});
const peer = (sessionId: string, rootId = 'root') => ({
  sessionId,
  rootId,
  parentId: null,
  handle: `a_${sessionId}`,
  description: '',
  status: 'idle',
});

describe('the settings', () => {
  it('are these unless set [MSG-8]', () => {
    expect(DEFAULT_MESSAGING_SETTINGS).toEqual({
      enabled: true,
      maxHops: 0,
      maxBodyBytes: 32_768,
      maxPendingPerSession: 32,
      maxInflightPerPair: 4,
    });
  });
});

describe('the checks before permission', () => {
  it('refuse everything where messaging is off [MSG-5]', () => {
    expect(switchProblem(settings({ enabled: false }))?.reason).toBe('disabled');
    expect(switchProblem(settings({}))).toBe(null);
  });

  it.each([
    ['', 32_768, 'invalid_body'],
    [' \n\t\u00a0\u3000', 32_768, 'invalid_body'],
    ['a', 0, 'invalid_body'],
    ['ä', 1, 'invalid_body'],
    ['ä', 2, undefined],
    ['x'.repeat(32_768), 32_768, undefined],
    ['x'.repeat(32_769), 32_768, 'invalid_body'],
  ])('judge a body by what it says and by its bytes, case %# [MSG-5]', (body, maxBodyBytes, reason) => {
    expect(bodyProblem(body, settings({ maxBodyBytes }))?.reason).toBe(reason);
  });

  it('tell nobody, strangers and oneself apart, in this order [MSG-5]', () => {
    const sender = peer('s');
    expect(recipientProblem(sender, null)?.reason).toBe('unknown_session');
    expect(recipientProblem(sender, peer('x', 'elsewhere'))?.reason).toBe('not_tree_peer');
    expect(recipientProblem(sender, peer('s', 'elsewhere'))?.reason).toBe('not_tree_peer');
    expect(recipientProblem(sender, peer('s'))?.reason).toBe('self_send');
    expect(recipientProblem(sender, peer('x'))).toBe(null);
  });
});

describe('the checks at acceptance', () => {
  it.each([
    { what: 'room in the inbox', inbox: inboxWith(31, 0), hop: 0, changes: {}, reason: undefined },
    { what: 'a full inbox', inbox: inboxWith(32, 0), hop: 0, changes: {}, reason: 'inbox_full' },
    {
      what: 'a full inbox before everything else',
      inbox: inboxWith(32, 32),
      hop: 9,
      changes: { maxHops: 1 },
      reason: 'inbox_full',
    },
    { what: 'the last hop', inbox: inboxWith(0, 0), hop: 2, changes: { maxHops: 2 }, reason: undefined },
    {
      what: 'one hop more',
      inbox: inboxWith(0, 0),
      hop: 3,
      changes: { maxHops: 2 },
      reason: 'max_hops_exceeded',
    },
    {
      what: 'one hop more and a full window',
      inbox: inboxWith(4, 4),
      hop: 3,
      changes: { maxHops: 2 },
      reason: 'max_hops_exceeded',
    },
    {
      what: 'any hop with counting off',
      inbox: inboxWith(0, 0),
      hop: 999,
      changes: { maxHops: 0 },
      reason: undefined,
    },
    {
      what: 'any hop with a negative limit',
      inbox: inboxWith(0, 0),
      hop: 999,
      changes: { maxHops: -1 },
      reason: undefined,
    },
    { what: 'room in the window', inbox: inboxWith(20, 3), hop: 0, changes: {}, reason: undefined },
    { what: 'a full window', inbox: inboxWith(4, 4), hop: 0, changes: {}, reason: 'inflight_full' },
    {
      what: 'a full window with the window off',
      inbox: inboxWith(31, 31),
      hop: 0,
      changes: { maxInflightPerPair: 0 },
      reason: undefined,
    },
  ])('decide $what [MSG-5] [MSG-7]', ({ inbox, hop, changes, reason }) => {
    expect(acceptanceProblem(inbox, { from: 'a_1', hop }, settings(changes))?.reason).toBe(reason);
  });

  it('refuse once a shutdown has begun [MSG-5]', () => {
    expect(shutdownProblem(new AbortController().signal)).toBe(null);
    expect(shutdownProblem(AbortSignal.abort())?.reason).toBe('engine_shutdown');
  });
});
