import { InvalidArgumentError } from 'commander';
import { isModelId } from '../models/model-id.ts';

export const MODES = ['ask', 'auto', 'yolo'] as const;
export type Mode = (typeof MODES)[number];

/** A whole number from `least` on, for an option of a command line. */
export function wholeNumber(least: number): (value: string) => number {
  return (value) => {
    const parsed = Number(value);
    if (/^\d+$/.test(value) && Number.isSafeInteger(parsed) && parsed >= least) return parsed;
    throw new InvalidArgumentError(`expected a whole number of at least ${least}.`);
  };
}

/** Seconds, fractions allowed; the result is in milliseconds. */
export function seconds(value: string): number {
  const parsed = Number(value);
  if (value.trim() !== '' && Number.isFinite(parsed) && parsed > 0) return Math.ceil(parsed * 1000);
  throw new InvalidArgumentError('expected a number of seconds above 0.');
}

export function modelName(value: string): string {
  if (isModelId(value)) return value;
  throw new InvalidArgumentError('expected PROVIDER/MODEL, or scripted:FILE.yaml.');
}

/** Gathers the values of an option that may stand more than once. */
export function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

export function port(value: string): number {
  const parsed = wholeNumber(0)(value);
  if (parsed <= 65_535) return parsed;
  throw new InvalidArgumentError('expected a port: 0 to 65535.');
}

/** What `agentd mcp` can serve. */
export const SERVED_TOOLS: readonly string[] = ['read', 'write', 'edit', 'bash', 'webfetch'];

/** Names of tools with commas between them. */
export function toolNames(value: string): readonly string[] {
  const names = value.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !SERVED_TOOLS.includes(name));
  if (unknown === undefined) return names;
  throw new InvalidArgumentError(`expected some of ${SERVED_TOOLS.join(',')}.`);
}
