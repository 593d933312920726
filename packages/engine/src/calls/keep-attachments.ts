import {
  messageOf,
  type AttachedFile,
  type Attachment,
  type AttachmentBudget,
  type OutputStore,
  type ToolError,
} from '@agentd/contract';
import { callError } from './call-fault.ts';

/** Files of a result, on the disk. */
export interface KeptAttachments {
  readonly attachments: readonly Attachment[];
  /** One line for each file that the budget left out (MED-8, MED-10). */
  readonly notes: readonly string[];
  /** Why nothing could be stored; the call has then failed. */
  readonly error: ToolError | null;
  /** Lets the publication guard go (ART-10). */
  readonly release: () => Promise<void>;
}

export interface KeepPorts {
  readonly outputs: OutputStore;
  /** Without it every file is kept. */
  readonly attachments?: AttachmentBudget | undefined;
}

const NOTHING: KeptAttachments = {
  attachments: [],
  notes: [],
  error: null,
  release: async () => undefined,
};

/** Stores the files of a completion before anything refers to them (FS-12, ART-16). Never rejects. */
export async function keepAttachments(
  files: readonly AttachedFile[],
  { outputs, attachments: budget }: KeepPorts,
): Promise<KeptAttachments> {
  if (files.length === 0) return NOTHING;
  const sized = files.map(({ record, bytes }) => ({ ...record, byte_length: bytes.byteLength, bytes }));
  const { kept, left } = budget?.fit(sized) ?? { kept: sized, left: [] };
  const notes = budget === undefined ? [] : left.map((file) => budget.note(file));
  try {
    const stored = await outputs.keep(kept.map(({ bytes }) => bytes));
    const attachments = stored.files.flatMap(({ sha256, reference }, index) => {
      const file = kept[index];
      if (file === undefined) return [];
      const { mime_type, byte_length, filename } = file;
      return [{ mime_type, byte_length, sha256, filename, reference: { uri: reference.uri } }];
    });
    return { attachments, notes, error: null, release: stored.release };
  } catch (thrown) {
    const error = callError(
      'execution_failed',
      `the attachments could not be stored: ${messageOf(thrown)}; try again later`,
    );
    return { ...NOTHING, notes, error };
  }
}
