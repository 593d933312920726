/** How strongly what follows is set apart: not at all, by a new line, by an empty line. */
export type Break = 0 | 1 | 2;

/** The element that sets a run apart; `render-html.ts` gives each its empty lines. */
const WRAPPERS = ['bare', 'div', 'section'] as const;

const HAS_INK = /[^ \t\r\n\f]/;

/**
 * Writes text as a flat row of blocks: each run of text between two breaks becomes one, so that containers need not
 * nest. Text right at the start of a container stands in it bare.
 */
export class TextFlow {
  readonly #parts: string[];
  #wrapper: 'none' | 'bare' | 'div' | 'section' = 'none';
  #pending: Break = 0;
  /** Whether nothing stands in the current container yet: then there is nothing to be set apart from. */
  #isAtStart = true;
  /** Set inside of `pre`: what was written last, so that a break does not double a line end. */
  #preEnd: string | null = null;
  #isFirstOfPre = false;
  #prefix = '';

  constructor(parts: string[]) {
    this.#parts = parts;
  }

  /** Ends the current run; the next one is set apart. */
  breakRun(strength: Break): void {
    if (this.#preEnd !== null) {
      if (this.#preEnd !== '\n' && !this.#isFirstOfPre) this.#writePre('\n');
      return;
    }
    this.#endRun();
    if (!this.#isAtStart && strength > this.#pending) this.#pending = strength;
  }

  /** Writes a container's tag. The text after it starts in it bare (`inside`), or as a block after it. */
  tag(write: () => void, after: 'inside' | Break): void {
    this.#endRun();
    this.#prefix = '';
    write();
    this.#isAtStart = after === 'inside';
    this.#pending = after === 'inside' ? 0 : after;
  }

  /** Writes an element that has no content. */
  element(markup: string, after: Break): void {
    this.tag(() => this.#parts.push(markup), after);
  }

  /** Stands before the next run's text, e.g. the mark of a heading; gone if another tag comes first. */
  prefixNext(prefix: string): void {
    this.#prefix = prefix;
  }

  text(text: string): void {
    if (this.#preEnd !== null) {
      this.#writePre(text);
      return;
    }
    if (this.#wrapper === 'none' && !HAS_INK.test(text)) return;
    this.#startRun();
    this.#parts.push(escaped(text));
  }

  lineBreak(): void {
    if (this.#preEnd !== null) this.#writePre('\n');
    else if (this.#wrapper !== 'none') this.#parts.push('<br>');
  }

  get isPre(): boolean {
    return this.#preEnd !== null;
  }

  startPre(): void {
    this.tag(() => this.#parts.push('<pre>'), 'inside');
    this.#preEnd = '';
    this.#isFirstOfPre = true;
  }

  endPre(): void {
    this.#preEnd = null;
    this.tag(() => this.#parts.push('</pre>'), 2);
  }

  #writePre(text: string): void {
    // The line end right after <pre> is not content.
    const content = this.#isFirstOfPre ? text.replace(/^\r?\n/, '') : text;
    this.#isFirstOfPre = false;
    this.#parts.push(escaped(content));
    this.#preEnd = content.at(-1) ?? this.#preEnd;
  }

  #startRun(): void {
    if (this.#wrapper !== 'none') return;
    this.#wrapper = WRAPPERS[this.#pending];
    if (this.#wrapper !== 'bare') this.#parts.push(`<${this.#wrapper}>`);
    this.#parts.push(this.#prefix);
    this.#prefix = '';
    this.#isAtStart = false;
  }

  #endRun(): void {
    if (this.#wrapper === 'none') return;
    if (this.#wrapper !== 'bare') this.#parts.push(`</${this.#wrapper}>`);
    this.#pending = 1;
    this.#wrapper = 'none';
  }
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? character);
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
