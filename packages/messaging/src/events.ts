import type { JsonObject } from '@agentd/contract';
import { z } from 'zod';

const messageId = z.string().min(1);

/**
 * The events of an inbox (EVT-2). `message_accepted` belongs to no run, `message_discarded` to none or to any; the
 * others to the run that the message goes to. Writers pass exactly these fields; readers accept more.
 */
export const messageEventSchemas = {
  message_accepted: z.looseObject({
    type: z.literal('message_accepted'),
    message_id: messageId,
    owner: z.enum(['agent', 'delegation', 'goal', 'plugin']),
    /** The sender's handle; a name for `goal` and `plugin`. */
    from: z.string().min(1),
    mode: z.enum(['steer', 'queue']),
    idempotency_key: z.string().min(1),
    /** As written. */
    body: z.string().refine((body) => body.trim() !== '', 'a body must not be blank'),
    /** How many messages led to this one. */
    hop: z.number().int().min(0),
  }),
  /** The run will take it. */
  message_admitted: z.looseObject({ type: z.literal('message_admitted'), message_id: messageId }),
  /** The run's next request has it. */
  message_claimed: z.looseObject({
    type: z.literal('message_claimed'),
    message_id: messageId,
    /** What the model reads: a user turn of the history, once a turn is committed that took this event in. */
    text: z.string(),
  }),
  /** The run gave it back: no committed turn had taken it in. */
  message_released: z.looseObject({ type: z.literal('message_released'), message_id: messageId }),
  /** A marker for readers: the turn that took the claim in has consumed it already. */
  message_consumed: z.looseObject({ type: z.literal('message_consumed'), message_id: messageId }),
  message_discarded: z.looseObject({ type: z.literal('message_discarded'), message_id: messageId }),
} as const;

export type MessageEventType = keyof typeof messageEventSchemas;

type Closed<Shape> = { [Key in keyof Shape as string extends Key ? never : Key]: Shape[Key] };

/** The payload of one type, exactly as it is written. */
export type MessageEventOf<Type extends MessageEventType> = Closed<
  z.infer<(typeof messageEventSchemas)[Type]>
>;

export type MessageEvent = { [Type in MessageEventType]: MessageEventOf<Type> }[MessageEventType];

export function isMessageEventType(type: unknown): type is MessageEventType {
  return typeof type === 'string' && Object.hasOwn(messageEventSchemas, type);
}

/** Null where a required field is damaged. */
export function readMessageEvent(type: MessageEventType, payload: JsonObject): MessageEvent | null {
  const parsed = messageEventSchemas[type].safeParse(payload);
  return parsed.success ? parsed.data : null;
}
