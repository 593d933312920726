import { createHash } from 'node:crypto';
import { PERMISSION_ACTIONS, type JsonValue, type PreparedCall, type ToolSpec } from '@agentd/contract';
import { z } from 'zod';
import { engineError } from '../errors.ts';
import type { PreparedOperation } from './call-stages.ts';

type Callback = (...args: never) => Promise<void>;
const callback = z.custom<Callback>((value) => typeof value === 'function', 'expected a function');

/** In characters. A label stands in several events, and is matched against every rule. */
const LONGEST_LABEL = 1024 * 1024;

/** As long as providers take. */
const LONGEST_NAME = 64;

const preparedCall = z.object({
  permission: z.object({ action: z.enum(PERMISSION_ACTIONS), label: z.string().max(LONGEST_LABEL) }),
  operation: z.unknown(),
  standsFor: z
    .object({
      tool: z.string().min(1).max(LONGEST_NAME),
      args: z.custom<JsonValue>((args) => args !== undefined),
    })
    .optional(),
  serializationKey: z.string().optional(),
  revalidate: callback.optional(),
  execute: callback,
  dispose: callback.optional(),
});

/** Takes a prepared call down. Throws a tool error where the tool broke its contract; `prepared` may be anything. */
export function preparedOperation(spec: ToolSpec, prepared: PreparedCall): PreparedOperation {
  const { name, action } = spec;
  const { permission, standsFor = null, serializationKey = null } = checked(prepared);
  if (permission.action !== action) {
    // Otherwise a tool could be published by one action and be permitted by another.
    throw engineError('ENGINE_TOOL_BREACH', `its action is ${action}, but it asks for ${permission.action}`);
  }
  if (standsFor !== null && spec.origin !== 'mcp') {
    throw engineError('ENGINE_TOOL_BREACH', `it stands for ${standsFor.tool}, but is no tool of MCP servers`);
  }
  const { execute, revalidate, dispose } = prepared;
  const digest = (): string => operationDigest({ tool: name, ...permission, operation: prepared.operation });
  const operationSha256 = digest();
  return {
    permission,
    standsFor,
    operationSha256,
    isUnchanged: () => digest() === operationSha256,
    serializationKey,
    revalidate: async (signal) => revalidate?.call(prepared, signal),
    execute: (context, signal) => execute.call(prepared, context, signal),
    dispose: async () => dispose?.call(prepared),
  };
}

function checked(prepared: PreparedCall): z.infer<typeof preparedCall> {
  const parsed = preparedCall.safeParse(prepared);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw engineError('ENGINE_TOOL_BREACH', `it prepared no valid call: ${problems.join('; ')}`);
}

/** SHA-256, in hex, of a value's JSON with its keys in code point order. Throws for what JSON cannot carry. */
export function operationDigest(operation: JsonValue): string {
  return createHash('sha256').update(canonicalJson(operation)).digest('hex');
}

function canonicalJson(value: JsonValue): string {
  const plain = JSON.parse(JSON.stringify(value)) as JsonValue;
  return JSON.stringify(plain, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
