import type { EventEnvelope } from '@agentd/contract';
import { SessionState, type LogDiagnostic, type UsageSum } from '@agentd/engine';
import { openSessions } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { homeFolder } from '../../home/home.ts';
import { findSession } from '../../session/find-session.ts';
import { statusNow } from '../../session/owner.ts';
import { runsOf, type RunRow } from '../../session/run-rows.ts';
import { counted } from '../counted.ts';
import type { DataOptions } from '../options.ts';
import { printRows } from '../print-rows.ts';
import { printable } from '../printable.ts';
import type { Screen } from '../screen.ts';

export interface ShowOptions extends DataOptions {
  readonly home?: string;
}

type RunView = Omit<RunRow, 'status'> & { readonly status: string };

interface SessionView {
  readonly session_id: string;
  readonly handle: string;
  /** Null for a root. */
  readonly parent_id: string | null;
  readonly agent: string;
  readonly title: string;
  readonly cwd: string;
  readonly status: string;
  readonly mode: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly last_seq: number;
  readonly log: string;
  readonly runs: readonly RunView[];
  readonly usage: UsageSum & { readonly models: Readonly<Record<string, UsageSum>> };
  readonly diagnostics: readonly LogDiagnostic[];
}

/** `sessions show ID`: header, runs, usage and what was odd about the log. Needs no lock (SES-4). */
export async function showSession(asked: string, options: ShowOptions, screen: Screen): Promise<number> {
  const home = homeFolder(options.home, process.env);
  const { project, log, sessionId: id } = await findSession(home, asked);
  const { events, diagnostics } = await openSessions(project).read(id);
  const view = await viewOf({ id, log, events, diagnostics });
  if (options.json === true) screen.print(`${JSON.stringify(view, null, 2)}\n`);
  else printView(view, screen);
  return EXIT.completed;
}

interface ViewSource {
  readonly id: string;
  readonly log: string;
  readonly events: readonly EventEnvelope[];
  readonly diagnostics: readonly LogDiagnostic[];
}

async function viewOf({ id, log, events, diagnostics }: ViewSource): Promise<SessionView> {
  const state = SessionState.of(events);
  const { handle, agent, cwd, origin } = state.header;
  return {
    session_id: id,
    handle,
    parent_id: origin?.parent_id ?? null,
    agent,
    title: state.title,
    cwd,
    status: await statusNow(state.status, log),
    mode: state.mode,
    created_at: events[0]?.timestamp ?? '',
    updated_at: events.at(-1)?.timestamp ?? '',
    last_seq: state.lastSeq,
    log,
    runs: await runsNow(events, log),
    usage: { ...state.usage.total, models: state.usage.models },
    diagnostics,
  };
}

async function runsNow(events: readonly EventEnvelope[], log: string): Promise<SessionView['runs']> {
  const rows = runsOf(events).map(async (run) => ({ ...run, status: await statusNow(run.status, log) }));
  return Promise.all(rows);
}

function printView(view: SessionView, screen: Screen): void {
  const { usage, runs, diagnostics } = view;
  printRows(
    screen,
    (
      [
        'session_id',
        'handle',
        'parent_id',
        'title',
        'agent',
        'cwd',
        'status',
        'mode',
        'created_at',
        'updated_at',
        'log',
      ] as const
    ).flatMap((name) => {
      const value = view[name];
      return value === null ? [] : [[name.replace('_', ' '), value]];
    }),
  );
  const cost = usage.cost_usd === null ? 'cost unknown' : `$${usage.cost_usd.toFixed(4)}`;
  screen.print(`usage       ${usage.input_tokens} tokens in, ${usage.output_tokens} out, ${cost}\n`);
  for (const run of runs) screen.print(`${printable(runLine(run))}\n`);
  for (const { line, message } of diagnostics) screen.print(`line ${line}: ${printable(message)}\n`);
}

function runLine({
  run_id: id,
  started_at: startedAt,
  status,
  reason,
  model,
  turns,
  tool_calls: calls,
}: RunView): string {
  const end = reason === null ? status : `${status} (${reason})`;
  return `run ${id}  ${startedAt.slice(0, 19).replace('T', ' ')}  ${end}  ${model}  ${counted(turns, 'turn')}, ${counted(calls, 'call')}`;
}
