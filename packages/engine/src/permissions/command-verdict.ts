import type { PermissionEffect } from '@agentd/contract';
import { possibleCommands, simpleCommands, type SimpleCommand } from './command-words.ts';
import {
  findRule,
  rulesFor,
  verdictOf,
  type RuleLayers,
  type RuleMatch,
  type Verdict,
} from './rule-match.ts';

/**
 * Decides a shell command (PERM-4): a rule without wildcards that equals it decides; else each of its simple commands
 * is judged alone and the strictest verdict counts; what is not parsed with certainty is at least `ask`. A rule that
 * denies counts against the whole text too.
 */
export function decideCommand(command: string, layers: RuleLayers): Verdict {
  const whole = matchOf(command, layers);
  if (whole?.weight.wildcards === 0 || isBareAllow(layers)) return verdictOf(whole);

  const commands = simpleCommands(command);
  const judged =
    commands === null
      ? uncertainVerdicts(command, whole, layers)
      : commands.flatMap((simple) => commandVerdicts(simple, layers));
  return strictest([...judged, ...denials(whole)]);
}

function commandVerdicts({ text, plain }: SimpleCommand, layers: RuleLayers): readonly Verdict[] {
  const asRun = plain === text ? undefined : matchOf(plain, layers);
  // Quoting must not hide a command from a rule that names it, and must not bring in a catch-all either.
  return [verdictOf(matchOf(text, layers)), ...(isNamed(asRun) ? [verdictOf(asRun)] : [])];
}

function uncertainVerdicts(
  command: string,
  whole: RuleMatch | undefined,
  layers: RuleLayers,
): readonly Verdict[] {
  const verdict = verdictOf(whole);
  const doubted: Verdict = {
    ...verdict,
    effect: 'ask',
    rule: `${verdict.rule ?? 'bash'}, which does not cover expansions, redirections and compound commands`,
  };
  const hidden = possibleCommands(command).flatMap((piece) => denials(matchOf(piece, layers)));
  return [verdict.effect === 'allow' ? doubted : verdict, ...hidden];
}

function matchOf(label: string, layers: RuleLayers): RuleMatch | undefined {
  return findRule({ action: 'bash', label }, layers);
}

function denials(match: RuleMatch | undefined): readonly Verdict[] {
  return match?.rule.effect === 'deny' && isNamed(match) ? [verdictOf(match)] : [];
}

/** A pattern of wildcards alone names no command. */
function isNamed(match: RuleMatch | undefined): boolean {
  return match !== undefined && match.weight.literals > 0;
}

/** Where the session has rules for `bash`, a bare `allow` there decides before anything in the document (PERM-2). */
function isBareAllow({ document, overlay }: RuleLayers): boolean {
  const session = rulesFor('bash', overlay);
  const rules = session.length > 0 ? session : rulesFor('bash', document);
  const [only] = rules;
  return rules.length === 1 && only?.pattern === '*' && only.effect === 'allow';
}

const STRICTNESS: Readonly<Record<PermissionEffect, number>> = { allow: 0, ask: 1, deny: 2 };

function strictest(verdicts: readonly Verdict[]): Verdict {
  return verdicts.reduce((strict, verdict) =>
    STRICTNESS[verdict.effect] > STRICTNESS[strict.effect] ? verdict : strict,
  );
}
