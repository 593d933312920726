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
const SPECIAL = /[\0\x07\r\x1b\x90\x98\x9b\x9d-\x9f]/g;

/** The sequences of colours and cursors, by far the most frequent. */
// oxlint-disable-next-line no-control-regex -- control characters are the subject
const CONTROL_SEQUENCES = /\x1b\[[ -?]*[@-~]/g;

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
    if (this.#state === 'text' && !this.#heldReturn && nextSpecial(chunk, 0) === chunk.length) {
      return { restartLine: false, text: chunk };
    }
    this.#lines = '';
    this.#line = '';
    this.#restartLine = false;
    let index = this.#rest(chunk, 0);
    index = this.#colours(chunk, index);
    while (index < chunk.length) index = this.#rest(chunk, this.#text(chunk, index));
    return { restartLine: this.#restartLine, text: this.#lines + this.#line };
  }

  /**
   * A short cut for coloured output: takes all before the last ESC at once, where whole control sequences are the only
   * special thing in it. What is left when they are out has no ESC, so no other sequence was begun or joined.
   */
  #colours(chunk: string, from: number): number {
    const end = chunk.lastIndexOf('\x1b');
    if (end <= from) return from;
    const plain = chunk.slice(from, end).replace(CONTROL_SEQUENCES, '');
    if (nextSpecial(plain, 0) < plain.length) return from;
    if (plain !== '') this.#write(plain);
    return end;
  }

  /** Takes plain text up to the next special character, and that one. */
  #text(chunk: string, from: number): number {
    const at = nextSpecial(chunk, from);
    if (at > from) this.#write(chunk.slice(from, at));
    if (at === chunk.length) return at;
    this.#special(chunk[at] ?? '');
    return at + 1;
  }

  #special(character: string): void {
    switch (character) {
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

  /** Adds visible text; after a CR it begins with the LF of a CR LF, or writes over the line. */
  #write(text: string): void {
    if (this.#heldReturn) this.#resolveReturn(text.startsWith('\n'));
    const lineStart = text.lastIndexOf('\n') + 1;
    if (lineStart > 0) {
      this.#lines += this.#line + text.slice(0, lineStart);
      this.#line = text.slice(lineStart);
    } else {
      this.#line += text;
    }
  }

  #resolveReturn(isLineEnd: boolean): void {
    this.#heldReturn = false;
    if (isLineEnd) {
      this.#line += '\r';
      return;
    }
    this.#line = '';
    if (this.#lines === '') this.#restartLine = true;
  }

  /** Takes what is left of a control sequence; a character that cannot belong to it is left for the text. */
  #rest(chunk: string, from: number): number {
    let index = from;
    while (this.#state !== 'text' && index < chunk.length) {
      const character = chunk[index] ?? '';
      const next = character === '\n' ? null : STEPS[this.#state](character);
      this.#state = next ?? 'text';
      if (next !== null) index += 1;
    }
    return index;
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

/** The index of the next special character, or the length of the chunk. */
function nextSpecial(chunk: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.test(chunk) ? SPECIAL.lastIndex - 1 : chunk.length;
}

function isBetween(character: string, first: string, last: string): boolean {
  return character >= first && character <= last;
}
