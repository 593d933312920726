import type { z } from 'zod';

/** Names each bad field of a call and what was expected there, for a model that must repair it (ARG-3). */
export function argumentProblems(tool: string, error: z.ZodError, args: unknown): string {
  const problems = error.issues.map((issue) => problemText(issue, args));
  return `invalid arguments for ${tool}: ${problems.join('; ')}. Call it again with arguments that fit its schema.`;
}

function problemText(issue: z.core.$ZodIssue, args: unknown): string {
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => JSON.stringify(path === '' ? key : `${path}.${key}`));
    return `unknown field${keys.length > 1 ? 's' : ''} ${keys.join(', ')}`;
  }
  if (path === '') return `expected an object, got ${kindOf(args)}`;
  const value = valueAt(args, issue.path);
  if (issue.code === 'invalid_type' && value === undefined)
    return `"${path}" is required: ${expectedText(issue)}`;
  return `"${path}": ${expectedText(issue)}, got ${shown(value)}`;
}

function expectedText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}`;
    case 'too_small':
      return `expected ${issue.origin} of at least ${String(issue.minimum)}`;
    case 'too_big':
      return `expected ${issue.origin} of at most ${String(issue.maximum)}`;
    case 'invalid_value':
      return `expected one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    default:
      return issue.message;
  }
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Long values would drown the message; their kind is enough to repair the call. */
const LONGEST_SHOWN_VALUE = 60;

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text === undefined || text.length > LONGEST_SHOWN_VALUE ? kindOf(value) : `${kindOf(value)} ${text}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
