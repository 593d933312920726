import { PERMISSION_ACTIONS, type PermissionAction, type PermissionEffect } from '@agentd/contract';
import type { PermissionRule } from '../agent-document.ts';

export type ParsedRule =
  | { readonly ok: true; readonly value: PermissionRule }
  | { readonly ok: false; readonly problem: string };

/** Reads `ACTION` or `ACTION:PATTERN` as a command line has it; the first colon splits (PERM-10). */
export function parseRuleArgument(argument: string, effect: PermissionEffect): ParsedRule {
  const colon = argument.indexOf(':');
  const action = colon === -1 ? argument : argument.slice(0, colon);
  const pattern = colon === -1 ? '*' : argument.slice(colon + 1);
  if (!isAction(action)) {
    const known = PERMISSION_ACTIONS.join(', ');
    return { ok: false, problem: `unknown action ${JSON.stringify(action)}; known are ${known}` };
  }
  if (pattern === '') return { ok: false, problem: `no pattern after "${action}:"; write ${action}:*` };
  return { ok: true, value: { action, pattern, effect } };
}

function isAction(text: string): text is PermissionAction {
  return (PERMISSION_ACTIONS as readonly string[]).includes(text);
}
