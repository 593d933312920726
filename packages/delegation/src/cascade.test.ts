import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { SessionFacts } from '@agentd/contract';
import { withDescendants } from './cascade.ts';

function chain(length: number): readonly SessionFacts[] {
  return Array.from({ length }, (_, depth) => ({
    sessionId: `s${depth}`,
    handle: `a_${depth}`,
    description: '',
    status: 'running',
    rootId: 's0',
    parentId: depth === 0 ? null : `s${depth - 1}`,
    agent: 'a',
    cwd: '/',
    depth,
  }));
}

describe('withDescendants', () => {
  it('finds everybody below, in whatever order the tree is told [DLG-10]', () => {
    const trees = fc.shuffledSubarray([...chain(6)], { minLength: 6 });
    fc.assert(
      fc.property(trees, fc.nat(5), (tree, from) => {
        const below = chain(6).slice(from);
        expect(withDescendants(tree, [`s${from}`])).toEqual(new Set(below.map(({ sessionId }) => sessionId)));
      }),
    );
  });
});
