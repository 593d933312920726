import { createHash } from 'node:crypto';
import type { Ids } from '@agentd/contract';
import { engineError } from './errors.ts';
import type { EventOf, PermissionMode } from './events.ts';
import type { RunPlan } from './run-plan.ts';

export interface RunStart {
  readonly plan: RunPlan;
  readonly clientRunId: string;
  readonly trigger: EventOf<'run_started'>['trigger'];
  readonly mode: PermissionMode;
}

/** The first event of a run (EVT-2). `model` is empty for a call by hand. */
export function runStart({ plan, clientRunId, trigger, mode }: RunStart): EventOf<'run_started'> {
  const info = plan.client?.info ?? null;
  return {
    type: 'run_started',
    client_run_id: clientRunId,
    trigger,
    agent: plan.agent.id,
    model: info?.id ?? '',
    tools: [...plan.publishedTo(info).keys()],
    prompt_sha256: plan.prompt.sha256,
    mode,
  };
}

export interface UserInput {
  readonly text: string;
  readonly kind: 'prompt' | 'steer';
}

/** What a user said, as an event. Throws `ENGINE_INPUT_EMPTY`: no provider takes a blank turn. */
export function userInput(ids: Ids, { text, kind }: UserInput): EventOf<'user_input_submitted'> {
  if (text.trim() === '')
    throw engineError('ENGINE_INPUT_EMPTY', 'there is nothing to say: the text is empty');
  return { type: 'user_input_submitted', input_id: ids.uuid(), text: text.toWellFormed(), kind };
}

/**
 * The workspace's notes as an event, where they are not what the session has already (CFG-1). Notes that are gone are
 * no news: what a session has read it cannot unread.
 */
export function notesLoaded(
  loaded: { readonly path: string; readonly text: string } | null,
  had: EventOf<'agents_md_loaded'> | null,
): readonly EventOf<'agents_md_loaded'>[] {
  if (loaded === null || loaded.text.trim() === '') return [];
  const text = loaded.text.toWellFormed();
  const sha256 = createHash('sha256').update(text).digest('hex');
  if (had?.sha256 === sha256 && had.path === loaded.path) return [];
  return [{ type: 'agents_md_loaded', path: loaded.path, sha256, text }];
}
