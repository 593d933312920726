import type { PermissionEffect } from '@agentd/contract';
import { parseRuleArgument, type PermissionRule } from '@agentd/engine';
import type { ActingOptions } from '../cli/options.ts';
import { usageError } from '../faults.ts';

/** The session overlay of `--allow` and `--deny`; where both fit equally well, the later one, deny, wins (PERM-2). */
export function overlayOf({ allow = [], deny = [] }: ActingOptions): readonly PermissionRule[] {
  return [
    ...allow.map((argument) => ruleOf(argument, 'allow')),
    ...deny.map((argument) => ruleOf(argument, 'deny')),
  ];
}

function ruleOf(argument: string, effect: PermissionEffect): PermissionRule {
  const parsed = parseRuleArgument(argument, effect);
  if (parsed.ok) return parsed.value;
  throw usageError(`--${effect} ${argument}: ${parsed.problem}`);
}
