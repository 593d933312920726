/** A line of the text that `publish-loop.ts` produces; the reader of its leftovers knows what must follow what. */
export function loopLine(callId: string, ...[stream, line]: [string, number]): string {
  return `${callId} ${stream} ${line} ${'€'.repeat(line % 40)}\n`;
}
