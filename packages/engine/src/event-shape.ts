import { isJsonObject } from '@agentd/contract';
import { eventSchemas } from './events.ts';

/** No session comes near it; the numbers that follow a damaged one must stay exact. */
const MAX_SEQ = 2 ** 52;

/** Deeper values overflow the stack of `JSON.stringify` and of whoever else walks them. */
const MAX_DEPTH = 1000;

/** Whether a value nests too deep for an event, written or read. */
export function isTooDeep(value: unknown, left = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((child) => isTooDeep(child, left - 1));
}

/** Why a line's value is no event, or undefined. Types that nobody knows here pass: they belong to others (EVT-1). */
export function envelopeProblem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'no JSON object';
  const { seq, session_id: sessionId, run_id: runId, timestamp, engine_version: version, payload } = value;
  if (!isSeq(seq)) return fieldProblem('seq');
  if (typeof sessionId !== 'string') return fieldProblem('session_id');
  if (typeof runId !== 'string' && runId !== null) return fieldProblem('run_id');
  if (typeof timestamp !== 'string') return fieldProblem('timestamp');
  if (typeof version !== 'string') return fieldProblem('engine_version');
  if (!isJsonObject(payload) || typeof payload['type'] !== 'string') return fieldProblem('payload');
  return isTooDeep(payload) ? 'a payload that nests too deep' : payloadProblem(payload['type'], payload);
}

function isSeq(seq: unknown): boolean {
  return typeof seq === 'number' && Number.isInteger(seq) && seq >= 1 && seq <= MAX_SEQ;
}

function fieldProblem(field: string): string {
  return `no event: "${field}" is missing or wrong`;
}

function payloadProblem(type: string, payload: unknown): string | undefined {
  if (!isKnown(type)) return undefined;
  const [issue] = eventSchemas[type].safeParse(payload).error?.issues ?? [];
  if (issue === undefined) return undefined;
  return `${type} with a wrong "${issue.path.join('.')}" (${issue.message})`;
}

function isKnown(type: string): type is keyof typeof eventSchemas {
  return Object.hasOwn(eventSchemas, type);
}
