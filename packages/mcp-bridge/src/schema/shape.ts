import type { JsonValue } from '@agentd/contract';

export const JSON_TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

export type JsonType = (typeof JSON_TYPES)[number];

/** What is understood of a JSON Schema: what both the published schema and the check of arguments are made of. */
export interface Shape {
  /** Empty: anything. Several: any of them. */
  readonly types: readonly JsonType[];
  readonly description?: string;
  readonly default?: JsonValue;
  readonly enum?: readonly JsonValue[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly items?: Shape;
  readonly properties?: ReadonlyMap<string, Shape>;
  readonly required?: readonly string[];
  /** Other properties than those named are refused. */
  readonly closed?: boolean;
  /** At least two, of which one must fit; beside them, the shape says what they have in common (MCP-5). */
  readonly anyOf?: readonly Shape[];
}

/** Something of a schema that could not be taken over, and where. */
export interface Dropped {
  /** `.filter.since`, or `` for the root. */
  readonly path: string;
  readonly what: string;
}
