import { printable } from './printable.ts';

/** Where a status line is written: a terminal. */
export interface StatusSurface {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly style: (text: string) => string;
}

const ERASE = '\r\u001B[K';

/**
 * The last line of a terminal, written over and over.
 *   T1. It never wraps: what does not fit is cut, so that one erasure removes all of it.
 *   T2. Whatever else is written comes after `clear`.
 */
export class StatusLine {
  readonly #surface: StatusSurface;
  #shown = '';

  constructor(surface: StatusSurface) {
    this.#surface = surface;
  }

  show(text: string): void {
    const { write, columns, style } = this.#surface;
    const line = fitting(printable(text.replaceAll(/\s+/g, ' ')), columns() - 1);
    if (line === this.#shown) return;
    write(`${ERASE}${style(line)}`);
    this.#shown = line;
  }

  clear(): void {
    if (this.#shown === '') return;
    this.#surface.write(ERASE);
    this.#shown = '';
  }
}

/** As many characters as have room; beyond Latin, Greek and Cyrillic each is taken to be two cells wide. */
function fitting(text: string, cells: number): string {
  let used = 0;
  let fits = '';
  for (const character of text) {
    used += (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : wideOrNot(character);
    if (used > cells) return fits;
    fits += character;
  }
  return fits;
}

/** Punctuation and arrows, which our own marks are made of, are one cell wide. */
function wideOrNot(character: string): number {
  return /[\u2010-\u25BF\u2713\u2717]/.test(character) ? 1 : 2;
}
