import { printable } from './printable.ts';

/** A message of several lines would break the promise of one (CLI-1). */
export function oneLine(message: string): string {
  return printable(message.trim().replaceAll(/\s*\n\s*/g, ' '));
}
