import { BREAKS, SCOPES, SILENT } from './element-kinds.ts';
import { ElementStack } from './element-stack.ts';
import { LinkText } from './link-text.ts';
import type { Attributes, TagHandler } from './tag-scanner.ts';
import { TextFlow } from './text-flow.ts';

const PRE = new Set(['pre', 'listing', 'xmp']);

/**
 * Rewrites a page as what its text needs and nothing else: flat blocks, lists, tables, quotes and `pre`, all closed
 * and never deep. Links become text with their targets, headings get marks.
 *   P1. Time and memory grow with the length of the page, however it nests.
 *   P2. No text is lost but that of elements which browsers do not show.
 */
export class PageSimplifier implements TagHandler {
  readonly #parts: string[] = [];
  readonly #flow = new TextFlow(this.#parts);
  readonly #elements = new ElementStack(this.#parts, this.#flow);
  readonly #links: LinkText;
  readonly #isXhtml: boolean;
  /** The silent element that is open, and how many of its name nest in it. */
  #silent: { readonly name: string; depth: number } | null = null;

  constructor(pageUrl: string, isXhtml: boolean) {
    this.#links = new LinkText(pageUrl, (text) => this.#write(text));
    this.#isXhtml = isXhtml;
  }

  readonly open = (name: string, attributes: Attributes, selfClosing: boolean): void => {
    // In HTML, "/>" means something on drawings only: a script that ends so has just begun.
    const isWhole = selfClosing && (this.#isXhtml || name === 'svg');
    if (this.#isHidden(name)) {
      if (this.#silent?.name === name && !isWhole) this.#silent.depth += 1;
    } else if (SILENT.has(name)) {
      if (!isWhole) this.#silent = { name, depth: 1 };
    } else {
      this.#openShown(name, attributes);
      if (isWhole && name !== 'br' && name !== 'hr') this.close(name);
    }
  };

  readonly close = (name: string): void => {
    if (this.#silent !== null) {
      if (this.#silent.name === name) this.#silent.depth -= 1;
      if (this.#silent.depth === 0) this.#silent = null;
    } else if (name === 'a') this.#links.end();
    else if (name === 'br') this.#flow.lineBreak();
    else if (PRE.has(name)) this.#endPre();
    else if (isHeading(name)) this.#endBlock();
    else if (SCOPES[name] !== undefined && !this.#flow.isPre) this.#elements.close(SCOPES[name]);
    else this.#break(name);
  };

  readonly text = (text: string): void => {
    if (this.#silent !== null) return;
    this.#links.note(text);
    this.#write(text);
  };

  readonly cdata = (text: string): void => {
    if (this.#isXhtml) this.text(text);
  };

  /** The page as simple HTML. Call it once, at the end. */
  finish(): string {
    this.#links.end();
    this.#endPre();
    this.#elements.closeAll();
    this.#flow.breakRun(1);
    return this.#parts.join('');
  }

  /** Whether a silent element hides `name`. A drawing ends where the page goes on: many are never closed. */
  #isHidden(name: string): boolean {
    if (this.#silent?.name === 'svg' && BREAKS[name] !== undefined) this.#silent = null;
    return this.#silent !== null;
  }

  #openShown(name: string, attributes: Attributes): void {
    if (name === 'a') this.#links.start(attributes['href']);
    else if (name === 'base') this.#links.setBase(attributes['href']);
    else if (name === 'img') this.text(attributes['alt'] ?? '');
    else if (name === 'br') this.#flow.lineBreak();
    else if (this.#flow.isPre) this.#break(name);
    else if (PRE.has(name)) this.#startPre();
    else if (isHeading(name)) this.#startHeading(name);
    else if (name === 'hr') this.#rule();
    else if (SCOPES[name] !== undefined) this.#elements.open(SCOPES[name], name, attributes);
    else this.#break(name);
  }

  #write(text: string): void {
    if (/[^ \t\r\n\f]/.test(text)) this.#elements.enterCell();
    this.#flow.text(text);
  }

  #break(name: string): void {
    const strength = BREAKS[name];
    if (strength !== undefined) this.#flow.breakRun(strength);
  }

  /** A mark tells the level, which plain text has no letters for. */
  #startHeading(name: string): void {
    this.#flow.breakRun(2);
    this.#flow.prefixNext(`${'#'.repeat(Number(name[1]))} `);
  }

  #endBlock(): void {
    this.#flow.prefixNext('');
    this.#flow.breakRun(2);
  }

  #rule(): void {
    this.#elements.enterCell();
    this.#flow.element('<hr>', 1);
  }

  #startPre(): void {
    this.#elements.enterCell();
    this.#flow.startPre();
  }

  #endPre(): void {
    if (this.#flow.isPre) this.#flow.endPre();
    else this.#flow.breakRun(1);
  }
}

function isHeading(name: string): boolean {
  return name.length === 2 && name >= 'h1' && name <= 'h6';
}
