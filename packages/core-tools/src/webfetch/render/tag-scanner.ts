import { Tokenizer } from 'htmlparser2';

export type Attributes = Readonly<Record<string, string>>;

/** What a scan meets, in document order. Names are in lower case. Nothing is nested, implied or repaired. */
export interface TagHandler {
  readonly open: (name: string, attributes: Attributes, selfClosing: boolean) => void;
  readonly close: (name: string) => void;
  /** Text with its entities decoded, in pieces. */
  readonly text: (text: string) => void;
  readonly cdata?: (text: string) => void;
}

/**
 * Finds the tags and the text of HTML in one pass whose time and memory grow with its length alone, however it nests
 * (the parsers behind it take quadratic time on deep nesting). Scripts and styles are raw text, comments are dropped.
 * Only tags in `wanted` get their attributes.
 */
export function scanTags(html: string, wanted: ReadonlySet<string>, handler: TagHandler): void {
  const tokenizer = new Tokenizer(
    { xmlMode: false, decodeEntities: true },
    {
      ...tagCallbacks(html, wanted, handler),
      onclosetag: (start, end) => handler.close(html.slice(start, end).toLowerCase()),
      ontext: (start, end) => handler.text(html.slice(start, end)),
      ontextentity: (codePoint) => handler.text(String.fromCodePoint(codePoint)),
      oncdata: (start, end, endOffset) => handler.cdata?.(html.slice(start, end - endOffset)),
      oncomment: () => undefined,
      ondeclaration: () => undefined,
      onprocessinginstruction: () => undefined,
      onend: () => undefined,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}

type Callbacks = ConstructorParameters<typeof Tokenizer>[1];
type TagCallbacks = Pick<
  Callbacks,
  | 'onopentagname'
  | 'onopentagend'
  | 'onselfclosingtag'
  | 'onattribname'
  | 'onattribdata'
  | 'onattribentity'
  | 'onattribend'
>;

/** Gathers the attributes of the tag that is being read. */
function tagCallbacks(html: string, wanted: ReadonlySet<string>, handler: TagHandler): TagCallbacks {
  let tag = '';
  let attributes: Record<string, string> | null = null;
  let name = '';
  let value: string[] = [];
  return {
    onopentagname: (start, end) => {
      tag = html.slice(start, end).toLowerCase();
      attributes = wanted.has(tag) ? {} : null;
    },
    onopentagend: () => handler.open(tag, attributes ?? {}, false),
    onselfclosingtag: () => handler.open(tag, attributes ?? {}, true),
    onattribname: (start, end) => {
      if (attributes === null) return;
      name = html.slice(start, end).toLowerCase();
      value = [];
    },
    onattribdata: (start, end) => {
      if (attributes !== null) value.push(html.slice(start, end));
    },
    onattribentity: (codePoint) => {
      if (attributes !== null) value.push(String.fromCodePoint(codePoint));
    },
    onattribend: () => {
      if (attributes !== null && !Object.hasOwn(attributes, name)) attributes[name] = value.join('');
    },
  };
}
