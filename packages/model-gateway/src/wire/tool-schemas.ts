import { isJsonObject, type JsonObject, type JsonValue, type ToolDefinition } from '@agentd/contract';
import type { AdaptorId } from '../settings.ts';

/**
 * Which families take `anyOf` within the parameters of a tool (MCP-5). Merged where it depends on a server or a model
 * that we do not know: a refused keyword costs the whole request, a merged union only precision.
 */
const UNIONS: Readonly<Record<Exclude<AdaptorId, 'scripted'>, 'taken' | 'merged'>> = {
  anthropic: 'taken',
  'anthropic-compatible': 'merged',
  'openai-responses': 'taken',
  'openai-chat': 'taken',
  'openai-compatible': 'merged',
  'google-gemini': 'taken',
  'google-vertex-gemini': 'taken',
  'aws-bedrock-converse': 'merged',
  'azure-openai-responses': 'taken',
  'azure-openai-chat': 'taken',
  'cohere-v2-chat': 'merged',
};

const FAMILIES: Readonly<Record<string, 'taken' | 'merged' | undefined>> = UNIONS;

/** The tools of a request with schemas as the family takes them. */
export function toolsFor(family: string, tools: readonly ToolDefinition[]): readonly ToolDefinition[] {
  if (FAMILIES[family] === 'taken') return tools;
  return tools.map((tool) => ({ ...tool, parameters: withoutUnions(tool.parameters) }));
}

function withoutUnions(schema: JsonObject): JsonObject {
  const { anyOf, ...rest } = schema;
  if (Array.isArray(anyOf))
    return { ...asOne(schemasIn(anyOf).map(withoutUnions), rest), ...defaultOf(rest) };
  const { properties, items } = rest;
  return {
    ...rest,
    ...(isJsonObject(properties) && { properties: mapped(properties, withoutUnions) }),
    ...(isJsonObject(items) && { items: withoutUnions(items) }),
  };
}

/** One schema for several. A wire has one type only: the first, and words name the others. */
function asOne(given: readonly JsonObject[], { description: own }: JsonObject = {}): JsonObject {
  const forms = [...new Map(given.map((form) => [JSON.stringify(form), form])).values()];
  const types = [...new Set(forms.map(typeOf))];
  const texts = [own, ...forms.map(({ description }) => description)];
  const text = texts.find((each) => typeof each === 'string');
  const note = types.length < 2 ? undefined : `(${types.join(' or ')})`;
  const words = [text, note].filter((each) => each !== undefined).join(' ');
  const { description: _own, ...common } = commonOf(forms.filter((form) => typeOf(form) === types[0]));
  // Its choices would rule the other types out.
  const { enum: _choices, ...open } = common;
  return { ...(types.length < 2 ? common : open), ...(words === '' ? {} : { description: words }) };
}

/** What schemas of one type have in common; what only some of them demand is not demanded. */
function commonOf(forms: readonly JsonObject[]): JsonObject {
  const [first = {}, ...others] = forms;
  if (others.length === 0) return first;
  const items = forms.flatMap((form) => schemasIn([form['items']]));
  const choices = forms.map((form) => form['enum']);
  return {
    ...('type' in first && { type: first['type'] }),
    ...(choices.every(Array.isArray) && { enum: [...new Set(choices.flat() as JsonValue[])] }),
    ...(items.length > 0 && { items: asOne(items) }),
    ...(first['type'] === 'object' && commonMembers(forms)),
  };
}

function commonMembers(forms: readonly JsonObject[]): JsonObject {
  const members = forms.flatMap(({ properties }) =>
    isJsonObject(properties) ? Object.entries(properties) : [],
  );
  const byName = Map.groupBy(members, ([name]) => name);
  const demands = forms.map(({ required }) => new Set(Array.isArray(required) ? required : []));
  const required = [...(demands[0] ?? [])].filter((name) => demands.every((one) => one.has(name)));
  return {
    properties: Object.fromEntries(
      [...byName].map(([name, all]) => [name, asOne(schemasIn(all.map(([, schema]) => schema)))]),
    ),
    ...(required.length > 0 && { required }),
    ...(forms.every((form) => form['additionalProperties'] === false) && { additionalProperties: false }),
  };
}

function typeOf({ type }: JsonObject): string {
  return typeof type === 'string' ? type : 'anything';
}

function defaultOf(schema: JsonObject): JsonObject {
  return schema['default'] === undefined ? {} : { default: schema['default'] };
}

function schemasIn(values: readonly (JsonValue | undefined)[]): readonly JsonObject[] {
  return values.filter((value): value is JsonObject => isJsonObject(value));
}

function mapped(schemas: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, isJsonObject(schema) ? change(schema) : schema]),
  );
}
