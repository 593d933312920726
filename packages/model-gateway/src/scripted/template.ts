import { isJsonObject, type JsonValue } from '@agentd/contract';

/** What templates may name. */
export type TemplateValues = ReadonlyMap<string, JsonValue>;

/** Why a template has no value; `template` is its text as it stands in the script. */
export class TemplateProblem extends Error {
  readonly template: string;

  constructor(template: string, problem: string) {
    super(`${template}: ${problem}`);
    this.template = template;
  }
}

const TEMPLATE = /\{\{(.*?)\}\}/gs;
const WHOLE = /^\{\{((?:(?!\}\}).)*)\}\}$/s;
const ARTIFACT_URI = /artifact:\/\/[0-9a-f]{64}(?:\/[A-Za-z0-9_.-]*[A-Za-z0-9_-])?/;

type Filter = (value: JsonValue) => JsonValue;

const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ['lines', (value) => countLines(textFor(value, 'lines'))],
  ['trim', (value) => textFor(value, 'trim').trim()],
  ['json', (value) => JSON.stringify(value)],
  ['uri', (value) => firstUri(typeof value === 'string' ? value : JSON.stringify(value))],
]);

/** Fills a text in. A text that is one template and nothing else keeps the type of its value (SCR-3). */
export function expandValue(text: string, values: TemplateValues): JsonValue {
  const whole = WHOLE.exec(text);
  return whole === null ? expandText(text, values) : evaluate(whole[0], values);
}

/** Fills a text in, and gives text. */
export function expandText(text: string, values: TemplateValues): string {
  return text.replace(TEMPLATE, (template) => asText(evaluate(template, values)));
}

function evaluate(template: string, values: TemplateValues): JsonValue {
  const [reference = '', ...filters] = template
    .slice(2, -2)
    .split('|')
    .map((piece) => piece.trim());
  try {
    return filters.reduce((value, name) => filterNamed(name)(value), lookUp(reference, values));
  } catch (thrown) {
    throw thrown instanceof Problem ? new TemplateProblem(template, thrown.message) : thrown;
  }
}

/** A problem that does not know yet where it stands. */
class Problem extends Error {}

function lookUp(reference: string, values: TemplateValues): JsonValue {
  const [name = '', ...path] = reference.split('.');
  const start = values.get(name);
  if (start === undefined) {
    throw new Problem(`${JSON.stringify(name)} is not known here; known: ${[...values.keys()].join(', ')}`);
  }
  return path.reduce<JsonValue>((value, key) => step(value, key, reference), start);
}

function step(value: JsonValue, key: string, reference: string): JsonValue {
  const found = Array.isArray(value) && /^\d+$/.test(key) ? value[Number(key)] : ownField(value, key);
  if (found !== undefined) return found;
  const keys = isJsonObject(value) ? `; there are: ${Object.keys(value).join(', ')}` : '';
  throw new Problem(`${reference} leads nowhere at ${JSON.stringify(key)}${keys}`);
}

function ownField(value: JsonValue, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function filterNamed(name: string): Filter {
  const filter = FILTERS.get(name);
  if (filter !== undefined) return filter;
  throw new Problem(`${JSON.stringify(name)} is no filter; filters: ${[...FILTERS.keys()].join(', ')}`);
}

function textFor(value: JsonValue, filter: string): string {
  if (typeof value === 'string') return value;
  throw new Problem(`the filter ${filter} takes text, not ${JSON.stringify(value).slice(0, 40)}`);
}

function countLines(text: string): number {
  if (text === '') return 0;
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function firstUri(text: string): string {
  const [uri] = ARTIFACT_URI.exec(text) ?? [];
  if (uri !== undefined) return uri;
  throw new Problem('there is no artifact URI in it');
}

function asText(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
