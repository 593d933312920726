/** Enough to see why a server failed; a server that talks for days keeps no more than this. */
const MAX_LINES = 200;
const MAX_LINE_CHARACTERS = 1000;

/** What a reader of a short message gets to see. */
const LONGEST_WORDS = 600;

/** The last words of one server: its stderr, and noise on its stdout (MCP-7). Bounded, whatever the server writes. */
export class ServerLog {
  readonly #lines: string[] = [];

  add(line: string): void {
    const text = printable(line).trimEnd();
    if (text === '') return;
    this.#lines.push(text.slice(0, MAX_LINE_CHARACTERS));
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }

  get lines(): readonly string[] {
    return [...this.#lines];
  }

  /** The end of the log on one line, for an error; empty for a silent server. */
  lastWords(): string {
    return this.#lines.join(' | ').slice(-LONGEST_WORDS).toWellFormed();
  }
}

/** Control characters could command a terminal. */
function printable(text: string): string {
  return text.toWellFormed().replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ');
}
