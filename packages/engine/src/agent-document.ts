import type { PermissionAction, PermissionEffect } from '@agentd/contract';

/** One rule: the first characters of `pattern` may be anything, `*` and `?` are wildcards (PERM-1). */
export interface PermissionRule {
  readonly action: PermissionAction;
  readonly pattern: string;
  readonly effect: PermissionEffect;
}

/** An agent as its document describes it (CFG-7). */
export interface AgentDocument {
  readonly id: string;
  readonly description: string;
  readonly mode: 'primary' | 'subagent' | 'all';
  /** A fallback chain of `provider/model`; empty means the configured default. */
  readonly models: readonly string[];
  /** In document order: the order breaks ties (PERM-2). */
  readonly permissions: readonly PermissionRule[];
  readonly maxOutputTokens: number | null;
  /** The body of the document: the system prompt. */
  readonly prompt: string;
}
