import { describe, expect, it } from '@jest/globals';
import { builtInAgent } from './load-agents.ts';
import { parseAgentDocument } from './parse-agent-document.ts';

function problem(text: string, file = 'helper.md'): string {
  try {
    parseAgentDocument(file, text);
  } catch (error) {
    return String((error as { message?: unknown }).message);
  }
  return 'no problem';
}

const FULL = `---
description: Helps
mode: subagent
models: [anthropic/a, local/b]
permissions:
  read: allow
  bash:
    "git *": allow
    "7": deny
    "*": ask
limits:
  max_output_tokens: 100
---

# Prompt

Be kind.
---
Not a second head.
`;

describe('parseAgentDocument', () => {
  it('reads every field, and the body as the prompt [CFG-7]', () => {
    expect(parseAgentDocument('agents/code-helper2.md', FULL)).toEqual({
      id: 'code-helper2',
      description: 'Helps',
      mode: 'subagent',
      models: ['anthropic/a', 'local/b'],
      permissions: [
        { action: 'read', pattern: '*', effect: 'allow' },
        { action: 'bash', pattern: 'git *', effect: 'allow' },
        { action: 'bash', pattern: '7', effect: 'deny' },
        { action: 'bash', pattern: '*', effect: 'ask' },
      ],
      maxOutputTokens: 100,
      prompt: '# Prompt\n\nBe kind.\n---\nNot a second head.',
    });
  });

  it('needs a description alone, and takes CRLF and a BOM [CFG-7]', () => {
    const document = parseAgentDocument('a.md', '\uFEFF---\r\ndescription: d\r\n---\r\nHi\r\n');
    expect(document).toEqual({
      id: 'a',
      description: 'd',
      mode: 'all',
      models: [],
      permissions: [],
      maxOutputTokens: null,
      prompt: 'Hi',
    });
  });

  it.each([
    ['no head', '# Prompt', 'helper.md:1:1: expected YAML between two lines "---" at the top of the file'],
    ['no end of the head', '---\ndescription: d\n', /^helper\.md:1:1: expected YAML between/],
    [
      'no description',
      '---\nmode: all\n---\n',
      /^helper\.md:2:1: description is missing: expected a non-empty string/,
    ],
    [
      'an unknown key',
      '---\ndescription: d\nmodel: a/b\n---\n',
      'helper.md:3:1: unknown key "model"; did you mean "models"?',
    ],
    [
      'an unknown mode',
      '---\ndescription: d\nmode: root\n---\n',
      /^helper\.md:3:1: mode: expected one of "primary", "subagent", "all", got "root"/,
    ],
    [
      'an unknown action',
      '---\ndescription: d\npermissions:\n  reed: allow\n---\n',
      'helper.md:4:3: unknown key "reed" in permissions; did you mean "read"?',
    ],
    [
      'an unknown effect',
      '---\ndescription: d\npermissions:\n  read: yes\n---\n',
      /^helper\.md:4:3: permissions\.read: expected allow, ask or deny/,
    ],
    [
      'a bad model',
      '---\ndescription: d\nmodels:\n  - a/b\n  - gpt\n---\n',
      /^helper\.md:5:5: models\.1: expected "provider\/model"/,
    ],
    [
      'a bad limit',
      '---\ndescription: d\nlimits: { max_output_tokens: 0 }\n---\n',
      /^helper\.md:3:11: limits\.max_output_tokens: expected a positive integer/,
    ],
    [
      'a key twice',
      '---\ndescription: d\nmode: all\ndescription: e\n---\n',
      /^helper\.md:4:1: not valid YAML: .*unique/,
    ],
    [
      'a bare star',
      '---\ndescription: d\npermissions:\n  read:\n    *: allow\n---\n',
      /^helper\.md:5:\d+: not valid YAML: .*put patterns that begin with \* in quotes/,
    ],
    [
      'a star without quotes for an effect',
      '---\ndescription: d\npermissions:\n  bash: *\n  read: *all\n---\n',
      /^helper\.md:4:\d+: not valid YAML: /,
    ],
    [
      'an alias of nothing',
      '---\ndescription: &d d\nmode: *d\npermissions:\n  read: *all\n---\n',
      /^helper\.md:5:9: not valid YAML: .*alias.*: all; put patterns that begin with \* in quotes$/,
    ],
    ['a list as head', '---\n- a\n---\n', /^helper\.md:2:1: expected a table, got a list/],
  ])('names file and line: %s [CFG-7]', (_, text, expected) => {
    if (typeof expected === 'string') expect(problem(text)).toBe(expected);
    else expect(problem(text)).toMatch(expected);
  });

  it('takes an alias for what it names, a denial too [CFG-7] [PERM-1]', () => {
    const aliases = 'read: { x: &no deny, y: *no }\n  write: &w { z: *no }\n  bash: *w\n  webfetch: *no';
    const { permissions } = parseAgentDocument(
      'a.md',
      `---\ndescription: d\npermissions:\n  ${aliases}\n---\n`,
    );
    expect(permissions).toEqual([
      { action: 'read', pattern: 'x', effect: 'deny' },
      { action: 'read', pattern: 'y', effect: 'deny' },
      { action: 'write', pattern: 'z', effect: 'deny' },
      { action: 'bash', pattern: 'z', effect: 'deny' },
      { action: 'webfetch', pattern: '*', effect: 'deny' },
    ]);
  });

  it.each(['Helper.md', 'a--b.md', '-a.md', 'a-.md', 'a_b.md', `${'a'.repeat(65)}.md`])(
    'refuses the id of %s [CFG-7]',
    (file) => {
      expect(problem('---\ndescription: d\n---\n', file)).toContain('agent id ');
    },
  );

  it.each(['a.md', '0.md', 'a-b-2.md', `${'a'.repeat(64)}.md`])('accepts the id of %s [CFG-7]', (file) => {
    expect(problem('---\ndescription: d\n---\n', file)).toBe('no problem');
  });
});

describe('the built-in agent', () => {
  it('is a plain document with the rules of the contract [PERM-5]', () => {
    const { permissions, mode, id } = builtInAgent().document;
    const effects = (action: string) =>
      Object.fromEntries(
        permissions.filter((rule) => rule.action === action).map(({ pattern, effect }) => [pattern, effect]),
      );
    expect({ id, mode }).toEqual({ id: 'default', mode: 'primary' });
    expect(effects('read')).toMatchObject({ '*': 'allow', '/*': 'ask', '.env': 'ask', '*/id_*': 'ask' });
    expect(effects('write')).toEqual({ '*': 'ask', 'goal:current': 'allow' });
    expect(['bash', 'webfetch', 'delegate', 'mcp', 'skill'].map(effects)).toEqual([
      { '*': 'ask' },
      { '*': 'ask' },
      { '*': 'ask' },
      { '*': 'ask' },
      { '*': 'allow' },
    ]);
    expect(effects('message')).toEqual({});
  });
});
