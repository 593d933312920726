import type { Attachment } from '@agentd/contract';
import { ATTACHMENT_BUDGET, roundSize } from './limits.ts';
import { described } from './wording.ts';

export interface Budget {
  /** Raw bytes of all files together. */
  readonly maxBytes: number;
  readonly maxCount: number;
}

export interface FittedFiles<File> {
  readonly kept: readonly File[];
  readonly left: readonly File[];
}

/** Keeps, in order, each file that still fits into the budget of one tool result (MED-8, MED-10). */
export function fitAttachments<File extends Pick<Attachment, 'byte_length'>>(
  files: readonly File[],
  { maxBytes, maxCount }: Budget = ATTACHMENT_BUDGET,
): FittedFiles<File> {
  const kept: File[] = [];
  const left: File[] = [];
  let bytes = 0;
  for (const file of files) {
    const fits = kept.length < maxCount && bytes + file.byte_length <= maxBytes;
    (fits ? kept : left).push(file);
    if (fits) bytes += file.byte_length;
  }
  return { kept, left };
}

/** What stands in the text of a result for a file that the budget left out (MED-8). */
export function leftOutNote(
  { filename, mime_type, byte_length }: Pick<Attachment, 'filename' | 'mime_type' | 'byte_length'>,
  { maxBytes, maxCount }: Budget = ATTACHMENT_BUDGET,
): string {
  return `[${described(filename, mime_type, byte_length)} left out: a result carries at most ${maxCount} files and ${roundSize(maxBytes)}]`;
}
