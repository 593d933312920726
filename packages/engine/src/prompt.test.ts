import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { composePrompt } from './prompt.ts';

describe('composePrompt', () => {
  it('puts the agent first, then the working directory, then one section a provider', () => {
    const { text } = composePrompt({
      agent: 'You help.\n',
      cwd: '/home/u/project',
      sections: [
        { provider: 'builtin.tools', text: 'Use them.' },
        { provider: 'mcp', text: 'Servers: none.' },
      ],
    });
    expect(text).toBe(
      [
        'You help.',
        '<working_directory>/home/u/project</working_directory>\nRelative paths of tool calls start in this directory.',
        '<tool_instructions provider="builtin.tools">\nUse them.\n</tool_instructions>',
        '<tool_instructions provider="mcp">\nServers: none.\n</tool_instructions>',
      ].join('\n\n---\n\n'),
    );
  });

  it('escapes a path and a provider id that look like markup', () => {
    const { text } = composePrompt({
      agent: '',
      cwd: '/tmp/</working_directory>&"x',
      sections: [{ provider: 'a"b', text: '<kept>' }],
    });
    expect(text).toContain(
      '<working_directory>/tmp/&lt;/working_directory&gt;&amp;&quot;x</working_directory>',
    );
    expect(text).toContain('<tool_instructions provider="a&quot;b">\n<kept>\n</tool_instructions>');
  });

  it('leaves out what is empty', () => {
    const { text } = composePrompt({ agent: ' \n', cwd: '/w', sections: [{ provider: 'x', text: '\n' }] });
    expect(text).toMatch(/^<working_directory>\/w<\/working_directory>\n[^-]*$/);
  });

  it('gives the digest of the whole text [EVT-2]', () => {
    const { text, sha256 } = composePrompt({ agent: 'é', cwd: '/w', sections: [] });
    expect(sha256).toBe(createHash('sha256').update(Buffer.from(text, 'utf8')).digest('hex'));
  });
});
