import { isJsonObject } from '@agentd/contract';
import type { Refusal } from './errors.ts';

const KNOWN: ReadonlySet<string> = new Set(['to', 'body', 'mode']);

/** What is wrong with the arguments of a send, in our own words: no text of a parser is shown (MSG-5). */
export function argumentsProblem(args: unknown): Refusal {
  const problems = isJsonObject(args) ? fieldProblems(args) : ['the arguments are no object'];
  const form =
    'It takes to (a handle or a session UUID), body (text) and, if wanted, mode ("steer" or "queue"), and nothing else';
  return { reason: 'invalid_arguments', message: `${problems.join('; ')}. ${form}.` };
}

function fieldProblems(args: { readonly [key: string]: unknown }): readonly string[] {
  const missing = ['to', 'body'].filter((name) => args[name] === undefined);
  const untyped = ['to', 'body'].filter((name) => args[name] !== undefined && typeof args[name] !== 'string');
  const unknown = Object.keys(args).filter((name) => !KNOWN.has(name));
  const { mode } = args;
  return [
    ...missing.map((name) => `${name} is missing`),
    ...untyped.map((name) => `${name} is no text`),
    ...(mode === undefined || mode === 'steer' || mode === 'queue'
      ? []
      : ['mode is neither steer nor queue']),
    ...(unknown.length === 0 ? [] : [`unknown: ${unknown.map(shown).join(', ')}`]),
  ];
}

/** A name of that length is no slip any more. */
const LONGEST_SHOWN_NAME = 60;

function shown(name: string): string {
  return JSON.stringify(name.slice(0, LONGEST_SHOWN_NAME));
}
