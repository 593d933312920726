import { codeOf, messageOf } from '@agentd/contract';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseAgentDocument } from '../agents/parse-agent-document.ts';
import { parseLayer } from './load-settings.ts';

/** Pieces from which something that is almost right grows often. */
const WORDS = `[ ] { } = " ' # : - * &a *a << | --- model server port providers mcp __proto__ constructor toString 1 0x
  true description permissions read allow \${env: 9999999999999999999`;
const PIECES = [...WORDS.split(/\s+/), ' ', '  ', '\n', '\r\n', '\0', '\uD800', '\uFEFF'];

const almost = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
);

/** The place at the start of what was thrown; `fine` where nothing was. */
function verdictOf(parse: () => unknown): string {
  try {
    parse();
    return 'fine';
  } catch (error) {
    return `${codeOf(error)} ${messageOf(error)}`;
  }
}

describe('a file that somebody wrote', () => {
  it('is settings, or fails with a place in it [CFG-2]', () => {
    fc.assert(
      fc.property(almost, (text) => {
        expect(verdictOf(() => parseLayer('f.toml', text))).toMatch(
          /^(?:fine$|AGENTD_SET_UP f\.toml:\d+:\d+: .)/,
        );
      }),
      { numRuns: 300 },
    );
  });

  it('is an agent document, or fails with a place in it [CFG-7]', () => {
    fc.assert(
      fc.property(almost, (text) => {
        const verdict = verdictOf(() =>
          parseAgentDocument('f.md', `---\ndescription: d\n${text}\n---\nbody`),
        );
        expect(verdict).toMatch(/^(?:fine$|AGENTD_SET_UP f\.md:\d+:\d+: .)/);
      }),
      { numRuns: 300 },
    );
  });
});
