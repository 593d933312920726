import { describe, expect, it } from '@jest/globals';
import type { PermissionAction, PermissionEffect } from '@agentd/contract';
import fc from 'fast-check';
import type { PermissionRule } from '../agent-document.ts';
import { decide, mayPublish } from './decide.ts';
import { weightOf } from './wildcard.ts';

/** `read:src/*=allow`; the action is `read` where none is named. */
function rules(...texts: readonly string[]): readonly PermissionRule[] {
  return texts.map((text) => {
    const [, action = 'read', pattern = '', effect = ''] = /^(?:(\w+):)?(.*)=(\w+)$/.exec(text) ?? [];
    return { action: action as PermissionAction, pattern, effect: effect as PermissionEffect };
  });
}

const verdict = (label: string, document: readonly string[], overlay: readonly string[] = []) =>
  decide({ action: 'read', label }, { document: rules(...document), overlay: rules(...overlay) });

describe('decide', () => {
  it.each([
    ['a rule that matches', ['*=allow'], 'allow'],
    ['no rule at all', [], 'deny'],
    ['no rule that matches', ['other=allow'], 'deny'],
    ['a rule of another action', ['write:*=allow'], 'deny'],
    ['more literals', ['src/secret.txt=deny', 'src/*=allow', '*=ask'], 'deny'],
    ['more literals, wherever they stand', ['*=deny', '*secret*=ask', 'src/*=allow'], 'ask'],
    ['fewer wildcards at equal literals', ['src/secret*=allow', '*src/secret*=deny'], 'allow'],
    ['the same, the other way round', ['*src/secret*=deny', 'src/secret*=allow'], 'allow'],
    ['the later one otherwise', ['src/secret.*=allow', 'src/secret*t=deny', 'src/secre*xt=deny'], 'deny'],
    ['the later one of two equal patterns', ['*=deny', '*=ask'], 'ask'],
  ])('%s decides [PERM-1] [PERM-2]', (_what, document, effect) => {
    expect(verdict('src/secret.txt', document).effect).toBe(effect);
  });

  it('lets any matching rule of the session decide before the document [PERM-2]', () => {
    expect(verdict('a/b.txt', ['a/b.txt=deny'], ['*=allow'])).toEqual({
      effect: 'allow',
      rule: 'read: * = allow',
      layer: 'overlay',
    });
    expect(verdict('a/b.txt', ['a/b.txt=allow'], ['c=deny'])).toEqual({
      effect: 'allow',
      rule: 'read: a/b.txt = allow',
      layer: 'document',
    });
  });

  it('names no rule where none matched [PERM-2]', () => {
    expect(verdict('a', ['b=allow'])).toEqual({ effect: 'deny', rule: null, layer: null });
  });

  it('picks the rule that no other beats, whatever the rules are [PERM-2]', () => {
    const pattern = fc.stringMatching(/^[ab*?]{0,4}$/);
    const effect = fc.constantFrom('allow', 'ask', 'deny');
    const rule = fc.record({ action: fc.constant('read' as const), pattern, effect });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), fc.stringMatching(/^[ab]{0,4}$/), (document, label) => {
        const matching = document.filter(({ pattern }) =>
          new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(label),
        );
        const [winner] = matching.toReversed().toSorted((a, b) => {
          const [x, y] = [weightOf(a.pattern), weightOf(b.pattern)];
          return y.literals - x.literals || x.wildcards - y.wildcards;
        });
        const verdict = decide({ action: 'read', label }, { document, overlay: [] });
        expect(verdict.effect).toBe(winner?.effect ?? 'deny');
      }),
    );
  });
});

describe('mayPublish', () => {
  it.each([
    ['an allow rule', ['*=allow'], [], true],
    ['an ask rule for one resource', ['x=ask'], [], true],
    ['an allow rule of the session', [], ['x=allow'], true],
    ['deny rules alone', ['*=deny'], ['x=deny'], false],
    ['rules of other actions', ['write:*=allow'], [], false],
    ['no rules', [], [], false],
  ])('%s [PERM-3]', (...[_what, document, overlay, expected]) => {
    expect(mayPublish('read', { document: rules(...document), overlay: rules(...overlay) })).toBe(expected);
  });
});
