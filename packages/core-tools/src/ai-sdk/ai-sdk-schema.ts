import type { JsonObject } from '@agentd/contract';

/** By this mark the AI SDK knows a JSON Schema; no import is needed to set it. */
const SCHEMA_MARK = Symbol.for('vercel.ai.schema');

/**
 * A JSON Schema as the AI SDK takes it, marked as its own `jsonSchema()` does. To the compiler it is a standard schema:
 * the type of the mark is private to the SDK.
 */
export interface AiSdkSchema {
  readonly jsonSchema: JsonObject;
  /** The tools check their arguments themselves and tell the model what is wrong. */
  readonly validate: undefined;
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: unknown };
  };
}

export function aiSdkSchema(parameters: JsonObject): AiSdkSchema {
  const schema: AiSdkSchema = {
    jsonSchema: parameters,
    validate: undefined,
    '~standard': { version: 1, vendor: 'agentd', validate: (value) => ({ value }) },
  };
  return Object.assign(schema, { [SCHEMA_MARK]: true });
}
