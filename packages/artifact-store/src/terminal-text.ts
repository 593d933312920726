/** What a chunk adds to the text of a terminal. */
export interface TerminalStep {
  /** Whether the line in progress is written over before `text` follows. */
  readonly restartLine: boolean;
  readonly text: string;
}

/** Where the filter is within a control sequence. */
type State = 'text' | 'escape' | 'intermediate' | 'control' | 'string' | 'string-escape';

/** Characters that end a run of plain text. C1 controls are what ESC and a letter are in one character. */
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const SPECIAL = /[\0\x07\r\n\x1b\x90\x98\x9b\x9d-\x9f]/g;
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const UNUSUAL = /[\0\x07\r\x1b\x90\x98\x9b\x9d-\x9f]/;

/**
 * Turns what a program wrote to a terminal into the text that stays visible (BASH-8): without escape sequences, BEL and
 * what a bare CR lets be written over; NUL becomes U+2400. CR LF and every LF stay, so that line numbers are those of
 * the stored text: an unfinished sequence ends at the line's end at the latest.
 */
export class TerminalText {
  #state: State = 'text';
  /** A CR whose successor decides whether it was bare. */
  #heldReturn = false;
  /** Finished lines and the line in progress, of the chunk at hand. */
  #lines = '';
  #line = '';
  #restartLine = false;

  push(chunk: string): TerminalStep {
    if (this.#state === 'text' && !this.#heldReturn && !UNUSUAL.test(chunk)) {
      return { restartLine: false, text: chunk };
    }
    this.#lines = '';
    this.#line = '';
    this.#restartLine = false;
    let index = 0;
    while (index < chunk.length) {
      index = this.#state === 'text' ? this.#text(chunk, index) : this.#sequence(chunk, index);
    }
    return { restartLine: this.#restartLine, text: this.#lines + this.#line };
  }

  /** Takes plain text up to the next special character, and that one. */
  #text(chunk: string, from: number): number {
    SPECIAL.lastIndex = from;
    const at = SPECIAL.exec(chunk)?.index ?? chunk.length;
    if (at > from) this.#write(chunk.slice(from, at));
    if (at === chunk.length) return at;
    this.#special(chunk[at] ?? '');
    return at + 1;
  }

  #special(character: string): void {
    switch (character) {
      case '\n':
        this.#lines += `${this.#line}${this.#heldReturn ? '\r' : ''}\n`;
        this.#line = '';
        this.#heldReturn = false;
        return;
      case '\r':
        this.#heldReturn = true;
        return;
      case '\0':
        this.#write('\u2400');
        return;
      case '\x07':
        return;
      case '\x1b':
        this.#state = 'escape';
        return;
      default:
        this.#state = character === '\x9b' ? 'control' : 'string';
    }
  }

  #write(text: string): void {
    if (this.#heldReturn) {
      this.#heldReturn = false;
      this.#line = '';
      if (this.#lines === '') this.#restartLine = true;
    }
    this.#line += text;
  }

  /** Takes one character of a control sequence; one that cannot belong to it is left for the text. */
  #sequence(chunk: string, at: number): number {
    const character = chunk[at] ?? '';
    if (character === '\n') {
      this.#state = 'text';
      return at;
    }
    const next = STEPS[this.#state](character);
    this.#state = next ?? 'text';
    return next === null ? at : at + 1;
  }
}

/** The state after a character, or null where the sequence breaks off before it. */
const STEPS: Record<State, (character: string) => State | null> = {
  text: () => 'text',
  escape: (character) => {
    if (character === '[') return 'control';
    if (']PX^_'.includes(character)) return 'string';
    if (isBetween(character, ' ', '/')) return 'intermediate';
    if (character === '\x1b') return 'escape';
    return isBetween(character, '0', '~') ? 'text' : null;
  },
  intermediate: (character) => {
    if (isBetween(character, ' ', '/')) return 'intermediate';
    return isBetween(character, '0', '~') ? 'text' : null;
  },
  control: (character) => {
    if (isBetween(character, ' ', '?')) return 'control';
    return isBetween(character, '@', '~') ? 'text' : null;
  },
  string: (character) => {
    if (character === '\x07' || character === '\x9c') return 'text';
    return character === '\x1b' ? 'string-escape' : 'string';
  },
  // An ESC that does not end the string starts a sequence of its own.
  'string-escape': (character) => (character === '\\' ? 'text' : STEPS.escape(character)),
};

function isBetween(character: string, first: string, last: string): boolean {
  return character >= first && character <= last;
}
