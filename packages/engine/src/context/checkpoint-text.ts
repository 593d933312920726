import { visibleText } from '../history-parts.ts';
import type { Checkpoint, RehydratedFile } from './context-ledger.ts';

const OPENING =
  'Earlier turns of this conversation were taken out to save context. What they amount to stands here; go on from it ' +
  'and do not begin again. Outputs named artifact://… can still be read under that name.';

const FILES = 'These files were read last in those turns. This is what they hold now:';

/** What a model reads in place of the turns that a checkpoint covers. */
export function checkpointText({ said, summary }: Checkpoint, files: readonly RehydratedFile[]): string {
  return [
    `<context_checkpoint>\n${OPENING}`,
    ...(said.length === 0 ? [] : [`<user_said>\n${said.join('\n---\n')}\n</user_said>`]),
    `<summary>\n${summary}\n</summary>`,
    ...(files.length === 0 ? [] : [FILES, ...files.map(fileText)]),
    '</context_checkpoint>',
  ].join('\n\n');
}

function fileText({ label, text }: RehydratedFile): string {
  return `<file_now name=${JSON.stringify(visibleText(label))}>\n${text}\n</file_now>`;
}
