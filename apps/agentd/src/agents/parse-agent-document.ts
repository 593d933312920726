import { basename } from 'node:path';
import { PERMISSION_ACTIONS, type PermissionEffect } from '@agentd/contract';
import type { AgentDocument, PermissionRule } from '@agentd/engine';
import { z } from 'zod';
import { fileProblem } from '../config/file-problem.ts';
import * as rule from '../config/leaf-rules.ts';
import { checked } from '../config/schema-problems.ts';
import { parseFrontmatter, type Frontmatter } from './frontmatter.ts';

const AGENT_ID = /^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9]))*$/;
const LONGEST_ID = 64;
const EFFECTS: readonly PermissionEffect[] = ['allow', 'ask', 'deny'];
const MODES = ['primary', 'subagent', 'all'] as const;

const effectOrPatterns = z.custom<PermissionEffect | Readonly<Record<string, PermissionEffect>>>(
  (value) => isEffect(value) || isPatternTable(value),
  'expected allow, ask or deny, or a table of patterns with one of them each',
);

const permissions = z.strictObject(
  Object.fromEntries(PERMISSION_ACTIONS.map((action) => [action, effectOrPatterns.optional()])),
);

const documentSchema = z.strictObject({
  description: rule.text,
  mode: rule.oneOf(MODES).optional(),
  models: z.array(rule.modelId).optional(),
  permissions: permissions.optional(),
  limits: z.strictObject({ max_output_tokens: rule.integer(1).optional() }).optional(),
});

/** Whether a file name or `--agent` can name an agent (CFG-7). */
function isAgentId(id: string): boolean {
  return id.length <= LONGEST_ID && AGENT_ID.test(id);
}

/**
 * Reads one agent document; its id is the file's name (CFG-7).
 * Contract: throws a file problem with line and column for anything that is not right.
 */
export function parseAgentDocument(file: string, text: string): AgentDocument {
  const id = basename(file, '.md');
  if (!isAgentId(id)) {
    const start = { file, line: 1, column: 1 };
    throw fileProblem(start, `agent id "${id}" must be 1 to 64 of a-z, 0-9 and single hyphens between them`);
  }
  const frontmatter = parseFrontmatter(file, text);
  const fields = checked(frontmatter, documentSchema);
  return {
    id,
    description: fields.description,
    mode: fields.mode ?? 'all',
    models: fields.models ?? [],
    permissions: rulesOf(frontmatter),
    maxOutputTokens: fields.limits?.max_output_tokens ?? null,
    prompt: frontmatter.body.trim(),
  };
}

/** In document order, which a plain object would lose for patterns that look like numbers (PERM-2). */
function rulesOf(frontmatter: Frontmatter): readonly PermissionRule[] {
  return frontmatter.entriesOf(['permissions']).flatMap(([name, value]) => {
    const action = name as PermissionRule['action'];
    if (isEffect(value)) return [{ action, pattern: '*', effect: value }];
    return frontmatter
      .entriesOf(['permissions', name])
      .map(([pattern, effect]) => ({ action, pattern, effect: effect as PermissionEffect }));
  });
}

function isEffect(value: unknown): value is PermissionEffect {
  return EFFECTS.includes(value as PermissionEffect);
}

function isPatternTable(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(value).every(([pattern, effect]) => pattern !== '' && isEffect(effect))
  );
}
