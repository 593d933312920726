import { messageOf, toolError } from '@agentd/contract';
import { contentOf, isSameState, type FileContent, type FileState } from '../target/file-state.ts';
import { staleTarget } from '../target/open-target.ts';
import type { ExistingTarget } from '../target/resolve-target.ts';
import { checkedEncoding, isNotText, type TextEncoding } from '../target/text-encoding.ts';
import type { TurnFiles } from '../turn-files.ts';
import { expectedState } from './edit-chain.ts';
import { MAX_RESULT_BYTES } from './edit-plan.ts';

/** A larger file would be held in memory several times over. */
const MAX_EDITED_BYTES = 32 * 1024 * 1024;

/** The bytes that an edit is prepared on; `name` is what messages call the file. */
export async function editedContent(
  { path, identity }: Pick<ExistingTarget, 'path' | 'identity'>,
  name: string,
  signal: AbortSignal,
): Promise<FileContent> {
  const content = await contentOf({ path, identity, most: MAX_EDITED_BYTES }, signal);
  if (content !== null) return content;
  throw toolError('resource_limit', `${name} has more than 32 MiB, which edit takes; use bash, e.g. sed -i`);
}

/** What bytes that are to be edited are encoded in; a tool error where they are no text. */
export function editableEncoding(bytes: Buffer, name: string): TextEncoding {
  try {
    return checkedEncoding(bytes);
  } catch (error) {
    if (!isNotText(error)) throw error;
    throw toolError('not_supported', `${name} cannot be edited as text: ${messageOf(error)}; use bash`);
  }
}

/**
 * The bytes that an `edit` is applied to: what it was prepared on, or exactly what earlier siblings made of that
 * (FS-15). They are read and checked by the revalidation, and handed on to the execution that follows it under the same
 * lock; what happens to the file after that is found by the checks of the publication.
 */
export class EditSource {
  readonly #path: string;
  readonly #prepared: FileState;
  readonly #turnFiles: TurnFiles;
  #checked: FileContent | null = null;

  constructor({ path, file }: { readonly path: string; readonly file: FileState }, turnFiles: TurnFiles) {
    this.#path = path;
    this.#prepared = file;
    this.#turnFiles = turnFiles;
  }

  /** Throws `stale` unless the file is as expected now. */
  async check(signal: AbortSignal): Promise<void> {
    this.drop();
    this.#checked = await this.#read(signal);
  }

  /** The bytes, which are the caller's to release. Throws as `check` does. */
  async take(signal: AbortSignal): Promise<FileContent> {
    const checked = this.#checked;
    this.#checked = null;
    if (checked !== null && isSameState(checked, this.#expected())) return checked;
    checked?.release();
    return this.#read(signal);
  }

  drop(): void {
    this.#checked?.release();
    this.#checked = null;
  }

  #expected(): FileState {
    return expectedState(this.#turnFiles.edits.get(this.#path), this.#prepared);
  }

  async #read(signal: AbortSignal): Promise<FileContent> {
    const expected = this.#expected();
    const { identity } = expected;
    // Siblings may have made it larger than what an edit is prepared on.
    const content = await contentOf({ path: this.#path, identity, most: MAX_RESULT_BYTES }, signal);
    if (content !== null && isSameState(content, expected)) return content;
    content?.release();
    throw staleTarget(this.#path);
  }
}
