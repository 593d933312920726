import { describe, expect, it } from '@jest/globals';
import { unknownSubagent } from './subagent-reference.ts';

const explore = {
  sessionId: '00000000-0000-4000-8000-000000000001',
  handle: 'explore_1a2b3c4d',
  description: 'Find the parser',
  status: 'running',
};

describe('the error for an unknown reference', () => {
  it('lists the candidates by handle with what they do, how they are and their ids [MSG-1]', () => {
    const build = { ...explore, handle: 'build_00000000', description: 'Build\n it', status: 'completed' };
    const { code, message } = unknownSubagent('explore_1a2b', [explore, build]);
    expect(code).toBe('unknown_subagent');
    expect(message).toBe(
      [
        'unknown subagent reference "explore_1a2b"; live subagents in your tree:',
        'build_00000000 — Build it — completed (session_id 00000000-0000-4000-8000-000000000001)',
        'explore_1a2b3c4d — Find the parser — running (session_id 00000000-0000-4000-8000-000000000001)',
      ].join('\n'),
    );
  });

  it('says when there is nobody, and keeps a strange reference on one line [MSG-1]', () => {
    expect(unknownSubagent('a\n"b"', []).message).toBe(
      'unknown subagent reference "a\\n\\"b\\""; live subagents in your tree:\n(none)',
    );
    expect(unknownSubagent('x'.repeat(5000), []).message.length).toBeLessThan(200);
  });
});
