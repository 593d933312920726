/** Words with the space before them: how models stream text. */
export function words(text: string): string[] {
  return text.match(/\s*\S+|\s+/g) ?? [];
}

/** One text in two pieces, cut between characters; a short one stays whole. */
export function halves(text: string): string[] {
  const characters = [...text];
  const middle = Math.floor(characters.length / 2);
  return middle === 0 ? [text] : [characters.slice(0, middle).join(''), characters.slice(middle).join('')];
}
