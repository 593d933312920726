import { describe, expect, it } from '@jest/globals';
import { parseRuleArgument } from './rule-argument.ts';

describe('parseRuleArgument', () => {
  it.each([
    ['read', 'read', '*'],
    ['read:*', 'read', '*'],
    ['read:artifact://*', 'read', 'artifact://*'],
    ['webfetch:https://x.test:8080/a?b', 'webfetch', 'https://x.test:8080/a?b'],
    ['bash:git log --format=a:b', 'bash', 'git log --format=a:b'],
    ['write: spaced', 'write', ' spaced'],
  ])('splits %j at the first colon [PERM-10]', (argument, action, pattern) => {
    expect(parseRuleArgument(argument, 'allow')).toEqual({
      ok: true,
      value: { action, pattern, effect: 'allow' },
    });
  });

  it.each([
    ['', 'unknown action ""; known are read, write, bash'],
    ['Read', 'unknown action "Read"'],
    ['git status', 'unknown action "git status"'],
    ['bash:', 'no pattern after "bash:"; write bash:*'],
  ])('says what is wrong with %j [PERM-10]', (argument, problem) => {
    expect(parseRuleArgument(argument, 'deny')).toEqual({
      ok: false,
      problem: expect.stringContaining(problem),
    });
  });
});
