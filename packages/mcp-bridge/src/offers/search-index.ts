import type { KnownTool } from './known-tool.ts';

/** A tool under its published name. */
export interface NamedTool {
  readonly name: string;
  readonly tool: KnownTool;
}

const WORD = /[\p{L}\p{N}]+/gu;

/** A word in the name says more about a tool than one in its text. */
const NAME_WEIGHT = 5;
const TEXT_WEIGHT = 1;

/** The tools that fit a question best, the best first; without a word in it, all of them in their order. */
export function searchTools(tools: readonly NamedTool[], query: string, limit: number): readonly NamedTool[] {
  const words = [...new Set(wordsOf(query))];
  if (words.length === 0) return tools.slice(0, limit);
  return tools
    .map((named) => ({ named, score: scoreOf(named, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ named }) => named);
}

function scoreOf({ name, tool }: NamedTool, words: readonly string[]): number {
  const named = new Set(wordsOf(`${name} ${tool.raw}`));
  const text = ` ${wordsOf(tool.description).join(' ')} `;
  return words.reduce((score, word) => {
    const inName = named.has(word)
      ? NAME_WEIGHT
      : [...named].some((each) => each.startsWith(word))
        ? NAME_WEIGHT / 2
        : 0;
    return score + inName + (text.includes(` ${word}`) ? TEXT_WEIGHT : 0);
  }, 0);
}

/** `listPullRequests` and `list_pull_requests` have the same words. */
function wordsOf(text: string): readonly string[] {
  const split = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').toLowerCase();
  return split.match(WORD) ?? [];
}
