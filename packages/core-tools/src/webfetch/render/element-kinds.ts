import type { Break } from './text-flow.ts';

/** Elements whose content is not shown. */
export const SILENT: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'title',
  'svg',
  'iframe',
  'datalist',
  'noframes',
  'noembed',
]);

/** Elements that set their content apart from what is around them. */
export const BREAKS: Readonly<Record<string, Break>> = Object.fromEntries([
  ...names(
    'address article aside body button caption center dd details dialog div dl dt fieldset figcaption figure footer form',
    1,
  ),
  ...names(
    'header hgroup html legend li main menu nav optgroup option search section select summary textarea',
    1,
  ),
  ...names('table thead tbody tfoot tr td th ul ol dir h1 h2 h3 h4 h5 h6 hr', 1),
  ...names('p blockquote pre listing xmp', 2),
]);

export type Scope = 'list' | 'item' | 'quote' | 'table' | 'rows' | 'row' | 'cell';

/** Elements that give their content a form and must nest right. */
export const SCOPES: Readonly<Record<string, Scope>> = {
  ul: 'list',
  ol: 'list',
  menu: 'list',
  dir: 'list',
  li: 'item',
  blockquote: 'quote',
  table: 'table',
  thead: 'rows',
  tbody: 'rows',
  tfoot: 'rows',
  // Its text becomes a row of its own.
  caption: 'rows',
  tr: 'row',
  td: 'cell',
  th: 'cell',
};

/** Tags whose attributes matter. */
export const WITH_ATTRIBUTES: ReadonlySet<string> = new Set(['a', 'base', 'img', 'ol', 'table', 'td', 'th']);

function names(list: string, strength: Break): readonly (readonly [string, Break])[] {
  return list.split(' ').map((name) => [name, strength] as const);
}
