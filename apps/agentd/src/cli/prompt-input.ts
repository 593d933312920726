import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { codeOf, messageOf } from '@agentd/contract';
import { usageError } from '../faults.ts';

/** More is no prompt but a file that should be read by a tool. */
const MAX_PROMPT_BYTES = 1024 * 1024;

export interface PromptSources {
  readonly argument: string | undefined;
  readonly file: string | undefined;
}

/** The prompt of a run, from exactly one source. Contract: throws a usage error when there is none, several or an empty one. */
export async function readPrompt({ argument, file }: PromptSources): Promise<string> {
  if (argument !== undefined && file !== undefined) {
    throw usageError('the prompt comes from the argument or from -f FILE, not from both');
  }
  const text = file === undefined ? await fromArgument(argument) : await fromFile(file);
  if (text.trim() === '') throw usageError('the prompt is empty');
  return text;
}

async function fromArgument(argument: string | undefined): Promise<string> {
  if (argument !== undefined && argument !== '-') return argument;
  if (argument === undefined && isatty(0)) {
    throw usageError('no prompt: give it as an argument, with -f FILE, or pipe it in');
  }
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_PROMPT_BYTES) throw tooLong('stdin');
    chunks.push(chunk);
  }
  return decoded(Buffer.concat(chunks), 'stdin');
}

async function fromFile(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    const reason = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw usageError(`the prompt file ${file} cannot be read: ${reason}`, { cause: error });
  }
  if (bytes.length > MAX_PROMPT_BYTES) throw tooLong(file);
  return decoded(bytes, file);
}

function decoded(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw usageError(`the prompt from ${source} is not UTF-8 text`, { cause: error });
  }
}

function tooLong(source: string): Error {
  return usageError(`the prompt from ${source} is over ${MAX_PROMPT_BYTES} bytes`);
}
