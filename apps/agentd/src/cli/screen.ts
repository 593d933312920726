import { isatty as isTerminal } from 'node:tty';
import { styleText } from 'node:util';
import { printable } from './printable.ts';
import { StatusLine } from './status-line.ts';

type Style = Parameters<typeof styleText>[0];

/** Where a command writes. What it computes goes to stdout, everything said about it to stderr. */
export interface Screen {
  /** Writes to stdout. After the reader has gone away it does nothing. */
  readonly print: (text: string) => void;
  /** Writes text from outside to stdout: as it is, but on a terminal with nothing in it that could command the terminal. */
  readonly show: (text: string) => void;
  /** Writes one line to stderr. */
  readonly tell: (line: string) => void;
  /** Shows one line below everything until the next word, or takes it away: on a terminal alone (CLI-2). */
  readonly status: (line: string | null) => void;
  readonly isTerminal: boolean;
  readonly errorsOnTerminal: boolean;
  /** Colours the text where colours are wanted (CLI-2). */
  readonly style: (style: Style, text: string) => string;
  /** Aborts when stdout takes no more: its reader went away, or the disk is full. */
  readonly closed: AbortSignal;
}

export interface ScreenChoices {
  /** `--no-color` was given. */
  readonly plain: boolean;
}

/** The process's own screen. */
export function processScreen({ plain }: ScreenChoices): Screen {
  const closed = new AbortController();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => closed.abort(error));
  process.stderr.on('error', () => undefined);
  const colours = wantsColours(plain, process.env, isTerminal(1) && isTerminal(2));
  const style: Screen['style'] = (name, text) =>
    colours ? styleText(name, text, { validateStream: false }) : text;
  const line = errorLine((text) => style('dim', text));
  const print = (text: string): void => {
    line?.clear();
    if (!closed.signal.aborted) process.stdout.write(text);
  };
  return {
    print,
    show: (text) => print(isTerminal(1) ? printable(text) : text),
    tell: (text) => {
      line?.clear();
      process.stderr.write(`${text}\n`);
    },
    status: (text) => (text === null ? line?.clear() : line?.show(text)),
    isTerminal: isTerminal(1),
    errorsOnTerminal: isTerminal(2),
    style,
    closed: closed.signal,
  };
}

/** Null where nothing can be erased. */
function errorLine(style: (text: string) => string): StatusLine | null {
  if (!isTerminal(2) || process.env['TERM'] === 'dumb') return null;
  return new StatusLine({
    write: (text) => void process.stderr.write(text),
    columns: () => process.stderr.columns,
    style,
  });
}

/** Colours only on a terminal, and never against `NO_COLOR` or `--no-color` (CLI-2). */
export function wantsColours(
  plain: boolean,
  environment: Readonly<Record<string, string | undefined>>,
  onTerminal: boolean,
): boolean {
  const refused = plain || (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb';
  return onTerminal && !refused;
}

/** Why stdout could not be written; null where it could, and where its reader simply had enough. */
export function outputFault({ closed }: Screen): string | null {
  const { code, message } = (closed.reason ?? {}) as Partial<NodeJS.ErrnoException>;
  return !closed.aborted || code === 'EPIPE' ? null : `cannot write to stdout: ${message}`;
}
