import type { PermissionAction, PermissionRequest } from '@agentd/contract';
import { decideCommand } from './command-verdict.ts';
import { findRule, verdictOf, type RuleLayers, type Verdict } from './rule-match.ts';

export type { RuleLayers, Verdict } from './rule-match.ts';

/** Decides by the rules alone (PERM-1, PERM-2); commands are looked into (PERM-4). Unmatched is `deny`. */
export function decide(request: PermissionRequest, layers: RuleLayers): Verdict {
  if (request.action === 'bash') return decideCommand(request.label, layers);
  return verdictOf(findRule(request, layers));
}

/** Whether a tool of this action is shown to a model at all: some rule must allow or ask (PERM-3). */
export function mayPublish(action: PermissionAction, { document, overlay }: RuleLayers): boolean {
  return [...document, ...overlay].some((rule) => rule.action === action && rule.effect !== 'deny');
}
