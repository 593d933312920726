/** What a model takes beside text. */
export type RowKinds =
  | ''
  | 'image'
  | 'image video'
  | 'image pdf'
  | 'image pdf video'
  | 'image pdf audio video';

/** US dollars a million tokens: input, output, and what is read from and written to a cache. */
export type RowPrices = readonly [input: number, output: number, cacheRead?: number, cacheWrite?: number];

/** The public facts of one model: its id, what it takes, its window and its longest answer in tokens, list prices. */
export type ModelRow = readonly [
  id: string,
  kinds: RowKinds,
  contextTokens: number,
  outputTokens: number,
  prices?: RowPrices,
];

export const PAGES = 'image pdf';
export const FILM = 'image pdf video';
export const ALL = 'image pdf audio video';
