/** A call as a model makes it, on any wire. */
export interface WireCall {
  /** Left out of the stream where it is absent; null goes out as null. */
  readonly id?: string | null;
  readonly name: string;
  /** A text goes out as it is, JSON or not; anything else as JSON. */
  readonly args?: unknown;
}

/** The text of a call's arguments. */
export function argsText({ args = {} }: WireCall): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

/** The id as the wire has it: absent, null or a text. */
export function idField(name: string, { id }: WireCall): Readonly<Record<string, string | null>> {
  return id === undefined ? {} : { [name]: id };
}
