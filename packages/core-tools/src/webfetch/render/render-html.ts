import { compile } from 'html-to-text';
import { WITH_ATTRIBUTES } from './element-kinds.ts';
import { PageSimplifier } from './page-simplifier.ts';
import { scanTags } from './tag-scanner.ts';

export interface HtmlPage {
  readonly html: string;
  /** Absolute; relative links are resolved against it. */
  readonly url: string;
  readonly isXhtml: boolean;
}

/** Columns of the rendered text (WEB-5). */
const WIDTH = 80;

const toText = compile({
  wordwrap: WIDTH,
  // The input is already as short as the page.
  limits: { maxInputLength: Number.MAX_SAFE_INTEGER },
  selectors: [
    { selector: 'section', format: 'block', options: { leadingLineBreaks: 2, trailingLineBreaks: 1 } },
    {
      selector: 'table',
      format: 'dataTable',
      options: { uppercaseHeaderCells: false, leadingLineBreaks: 2, trailingLineBreaks: 2 },
    },
    {
      selector: 'blockquote',
      format: 'blockquote',
      options: { leadingLineBreaks: 2, trailingLineBreaks: 2 },
    },
  ],
});

/** A page as plain text at width 80 (WEB-5, WEB-6). Synchronous: a hostile page may take long, so run it in a worker. */
export function renderHtml({ html, url, isXhtml }: HtmlPage): string {
  const page = new PageSimplifier(url, isXhtml);
  scanTags(html, WITH_ATTRIBUTES, page);
  // A model that copies a command must not copy spaces that no shell knows.
  const text = toText(page.finish()).replace(/^\n+/, '').trimEnd();
  return text
    .replace(/[\u00a0\u202f]/g, ' ')
    .replaceAll('\0', '\ufffd')
    .toWellFormed();
}
