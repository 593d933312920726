const SHOWN_SCHEMES = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:', 'sftp:', 'magnet:', 'geo:']);

/** Writes the target of each link behind its text, as ` [target]`, absolute against the page. */
export class LinkText {
  #base: string;
  readonly #write: (text: string) => void;
  /** The link that is open. HTML has no links in links, so one is enough. */
  #link: { readonly target: string; text: string } | null = null;

  constructor(pageUrl: string, write: (text: string) => void) {
    this.#base = pageUrl;
    this.#write = write;
  }

  setBase(href: string | undefined): void {
    const base = href === undefined ? null : URL.parse(href, this.#base);
    if (base !== null) this.#base = base.href;
  }

  start(href: string | undefined): void {
    this.end();
    const target = href === undefined ? null : this.#targetOf(href.trim());
    if (target !== null) this.#link = { target, text: '' };
  }

  /** Tells of text that is written, so that a target that is its own text is not written twice. */
  note(text: string): void {
    const link = this.#link;
    if (link !== null && link.text.length <= link.target.length) link.text += text.trim();
  }

  end(): void {
    const link = this.#link;
    this.#link = null;
    if (link !== null && !isSameTarget(link.text, link.target)) this.#write(` [${link.target}]`);
  }

  /** Null for what is no use outside of the page: places in it, scripts, data. */
  #targetOf(href: string): string | null {
    if (href === '' || href.startsWith('#')) return null;
    const url = URL.parse(href, this.#base);
    // What a URL parser refuses may still tell a reader something.
    if (url === null) return /\s/.test(href) ? null : href;
    return SHOWN_SCHEMES.has(url.protocol) ? url.href : null;
  }
}

function isSameTarget(text: string, target: string): boolean {
  return (
    text !== '' && [target, target.replace(/\/$/, ''), target.replace(/^(?:mailto|tel):/, '')].includes(text)
  );
}
