import type { PermissionAction, PermissionEffect, PermissionRequest } from '@agentd/contract';
import type { PermissionRule } from '../agent-document.ts';

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

/** Decides by the rules alone (PERM-1, PERM-2). */
export function decide(_request: PermissionRequest, _layers: RuleLayers): Verdict {
  throw new Error('not written yet');
}

/** Whether a tool of this action is shown to a model at all (PERM-3). */
export function mayPublish(_action: PermissionAction, _layers: RuleLayers): boolean {
  throw new Error('not written yet');
}
