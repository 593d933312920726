import { randomBytes, randomUUID } from 'node:crypto';

/** A canonical lowercase UUID. */
export type SessionId = string;
/** A canonical lowercase UUID. */
export type RunId = string;
/** A canonical lowercase UUID, made by the engine; the provider's own id is kept beside it. */
export type ToolCallId = string;

/** Source of identity. Contract: never repeats a value. */
export interface Ids {
  /** A canonical lowercase UUID. */
  readonly uuid: () => string;
  /** `length` lowercase hex digits. */
  readonly hex: (length: number) => string;
}

export const randomIds: Ids = {
  uuid: () => randomUUID(),
  hex: (length) =>
    randomBytes(Math.ceil(length / 2))
      .toString('hex')
      .slice(0, length),
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether `text` is a UUID in its canonical lowercase form; no other spelling counts (DLG-4). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
