import type { JsonObject } from '@agentd/contract';
import { z } from 'zod';

const invocationId = z.string().min(1);
const id = z.string().min(1);

/**
 * The events of a parent's log (EVT-2, DLG-11). `delegation_reserved` belongs to the run that delegates, the others to
 * no run, since a child may outlive it. Writers pass exactly these fields; readers accept more.
 */
export const delegationEventSchemas = {
  /** Holds all that is needed to create the child and to start its run, in this process or in a later one. */
  delegation_reserved: z.looseObject({
    type: z.literal('delegation_reserved'),
    invocation_id: invocationId,
    child_id: id,
    handle: id,
    agent: id,
    title: z.string(),
    prompt: z.string(),
    background: z.boolean(),
    /** The child was there before and gets a further prompt (DLG-13). */
    resumes: z.boolean(),
    /** The copied conversation (DLG-12). */
    inherited: z.string().nullable(),
    parent_run_id: id,
    tool_call_id: id,
  }),
  /** The child exists and waits for its turn (DLG-9). */
  delegation_queued: z.looseObject({ type: z.literal('delegation_queued'), invocation_id: invocationId }),
  /** The child exists and its run is started next. */
  delegation_started: z.looseObject({ type: z.literal('delegation_started'), invocation_id: invocationId }),
  delegation_finished: z.looseObject({
    type: z.literal('delegation_finished'),
    invocation_id: invocationId,
    status: z.enum(['completed', 'failed', 'cancelled', 'interrupted']),
    /** At most 20 lines and 2,048 bytes of what the child said last (DLG-5). */
    preview: z.string(),
    /** Lines of all that it said last. */
    lines: z.number().int().min(0),
    /** The preview leaves something out. */
    truncated: z.boolean(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    /** Who tells the parent: the result of its call, a message in its inbox, or nobody, since it cancelled the child. */
    delivery: z.enum(['call', 'inbox', 'none']),
  }),
} as const;

export type DelegationEventType = keyof typeof delegationEventSchemas;

type Closed<Shape> = { [Key in keyof Shape as string extends Key ? never : Key]: Shape[Key] };

/** The payload of one type, exactly as it is written. */
export type DelegationEventOf<Type extends DelegationEventType> = Closed<
  z.infer<(typeof delegationEventSchemas)[Type]>
>;

export type DelegationEvent = { [Type in DelegationEventType]: DelegationEventOf<Type> }[DelegationEventType];

export function isDelegationEventType(type: unknown): type is DelegationEventType {
  return typeof type === 'string' && Object.hasOwn(delegationEventSchemas, type);
}

/** Null where a required field is damaged. */
export function readDelegationEvent(type: DelegationEventType, payload: JsonObject): DelegationEvent | null {
  const parsed = delegationEventSchemas[type].safeParse(payload);
  return parsed.success ? parsed.data : null;
}
