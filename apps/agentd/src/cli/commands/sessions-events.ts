import { openSessions } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { homeFolder } from '../../home/home.ts';
import { findSession } from '../../session/find-session.ts';
import { followLines } from '../../session/follow-lines.ts';
import { onInterruption } from '../interruption.ts';
import { printable } from '../printable.ts';
import type { Screen } from '../screen.ts';

export interface EventsOptions {
  readonly home?: string;
  readonly follow?: boolean;
}

/** `sessions events ID`: what the log holds, one event a line; with `--follow` also what is still to come. Needs no lock. */
export async function printEvents(asked: string, options: EventsOptions, screen: Screen): Promise<number> {
  const home = homeFolder(options.home, process.env);
  const { project, log, sessionId: id } = await findSession(home, asked);
  if (options.follow === true) {
    using interruption = onInterruption();
    const stop = AbortSignal.any([interruption.signal, screen.closed]);
    for await (const line of followLines(log, stop)) printEvent(line, screen);
    return EXIT.completed;
  }
  const { events, diagnostics } = await openSessions(project).read(id);
  for (const event of events) screen.print(`${JSON.stringify(event)}\n`);
  for (const { line, message } of diagnostics) screen.tell(`${log}:${line}: ${printable(message)}`);
  return EXIT.completed;
}

/** A line that is no event is told, not shown (SES-3). */
function printEvent(line: string, screen: Screen): void {
  if (isEvent(line)) screen.print(`${line}\n`);
  else screen.tell('a line that is no event was skipped');
}

function isEvent(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'seq' in value && 'payload' in value;
  } catch {
    return false;
  }
}
