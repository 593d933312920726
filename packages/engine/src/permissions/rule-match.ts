import type { PermissionAction, PermissionEffect, PermissionRequest } from '@agentd/contract';
import type { PermissionRule } from '../agent-document.ts';
import { matchesPattern, weightOf, type PatternWeight } from './wildcard.ts';

/** The rules of an agent document and, over them, those of the session (PERM-2). */
export interface RuleLayers {
  readonly document: readonly PermissionRule[];
  readonly overlay: readonly PermissionRule[];
}

/** What the rules say of one request. */
export interface Verdict {
  readonly effect: PermissionEffect;
  /** The deciding rule as text, e.g. `write: * = ask`; null where none matched. */
  readonly rule: string | null;
  readonly layer: 'overlay' | 'document' | null;
}

/** The rule that decides, and the layer that it stands in. */
export interface RuleMatch {
  readonly rule: PermissionRule;
  readonly weight: PatternWeight;
  readonly layer: 'overlay' | 'document';
}

/** The deciding rule: the overlay before the document, then more literals, fewer wildcards, the later one (PERM-2). */
export function findRule(
  request: PermissionRequest,
  { document, overlay }: RuleLayers,
): RuleMatch | undefined {
  return bestOf(request, overlay, 'overlay') ?? bestOf(request, document, 'document');
}

export function verdictOf(match: RuleMatch | undefined): Verdict {
  if (match === undefined) return { effect: 'deny', rule: null, layer: null };
  return { effect: match.rule.effect, rule: ruleText(match.rule), layer: match.layer };
}

export function ruleText({ action, pattern, effect }: PermissionRule): string {
  return `${action}: ${pattern} = ${effect}`;
}

export function rulesFor(
  action: PermissionAction,
  rules: readonly PermissionRule[],
): readonly PermissionRule[] {
  return rules.filter((rule) => rule.action === action);
}

function bestOf(
  { action, label }: PermissionRequest,
  rules: readonly PermissionRule[],
  layer: RuleMatch['layer'],
): RuleMatch | undefined {
  let best: RuleMatch | undefined;
  for (const rule of rulesFor(action, rules)) {
    if (!matchesPattern(rule.pattern, label)) continue;
    const weight = weightOf(rule.pattern);
    if (best === undefined || decidesBefore(weight, best.weight)) best = { rule, weight, layer };
  }
  return best;
}

/** Rules come in order, so a tie goes to the newer one. */
function decidesBefore(newer: PatternWeight, older: PatternWeight): boolean {
  if (newer.literals !== older.literals) return newer.literals > older.literals;
  return newer.wildcards <= older.wildcards;
}
