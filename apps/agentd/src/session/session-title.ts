/** A list of sessions shows titles on one line each. */
const MAX_TITLE_LENGTH = 80;

/** A session's title: the first line that says anything. */
export function titleFrom(text: string): string {
  const line = text.split('\n').find((candidate) => candidate.trim() !== '') ?? '';
  const title = line.trim().replaceAll(/\s+/g, ' ');
  const letters = [...title];
  return letters.length > MAX_TITLE_LENGTH ? `${letters.slice(0, MAX_TITLE_LENGTH - 1).join('')}…` : title;
}
