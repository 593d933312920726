import { readFile } from 'node:fs/promises';
import { codeOf, messageOf, type Clock, type ModelClient } from '@agentd/contract';
import { gatewayError } from './errors.ts';

/** Attempts made at each scripted turn with an `error`, for the life of the gateway (SCR-1). */
export type ScriptAttempts = Map<string, number>;

export interface ScriptedModel {
  /** As the user wrote it. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  /** Path of the script; a relative one starts in the process's working directory. */
  readonly file: string;
}

/** Reads and checks the script, and makes a client that plays it (SCR-1). */
export async function openScripted(
  model: ScriptedModel,
  { clock, attempts }: { readonly clock: Clock; readonly attempts: ScriptAttempts },
): Promise<ModelClient> {
  const { scriptedClient } = await import('./scripted/scripted-client.ts');
  const { parseScript } = await import('./scripted/script.ts');
  const script = parseScript(await textOf(model.file), model.file);
  return scriptedClient({ model, script }, { clock, attempts });
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    const reason = codeOf(thrown) === 'ENOENT' ? 'there is no such file' : messageOf(thrown);
    throw gatewayError('GATEWAY_SCRIPT_UNREADABLE', `the script ${file} cannot be read: ${reason}`, {
      cause: thrown,
    });
  }
}
