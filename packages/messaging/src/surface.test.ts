import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import * as surface from './index.ts';
import * as testing from './testing/index.ts';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, unknown>>;
};

describe('the public surface', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'DEFAULT_MESSAGING_SETTINGS',
      'InboxState',
      'acceptanceProblem',
      'agentEnvelope',
      'bodyProblem',
      'createMessaging',
      'createSendMessageTool',
      'escapeBody',
      'inboxOpener',
      'messageEventSchemas',
      'phaseAfter',
      'recipientProblem',
      'relationOf',
      'shutdownProblem',
      'switchProblem',
    ]);
  });

  it('gives tests exactly these values', () => {
    expect(Object.keys(testing).toSorted()).toEqual([
      'inboxLogCases',
      'memoryLog',
      'memoryTree',
      'messagingPortCases',
    ]);
  });

  it('has exactly these entry points', () => {
    expect(Object.keys(manifest.exports)).toEqual(['.', './testing', './package.json']);
  });

  it('writes exactly these events', () => {
    expect(
      Object.fromEntries(
        Object.entries(surface.messageEventSchemas).map(([type, schema]) => [
          type,
          Object.keys(schema.shape),
        ]),
      ),
    ).toEqual({
      message_accepted: ['type', 'message_id', 'owner', 'from', 'mode', 'idempotency_key', 'body', 'hop'],
      message_admitted: ['type', 'message_id'],
      message_claimed: ['type', 'message_id', 'text'],
      message_released: ['type', 'message_id'],
      message_consumed: ['type', 'message_id'],
      message_discarded: ['type', 'message_id'],
    });
  });
});
