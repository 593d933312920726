export type MessageId = string | number;

interface Edges {
  readonly head: string;
  readonly tail: string;
}

const AT_HEAD = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*[,}]/;
const AT_TAIL = /,\s*"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** The request that a message too long to be read answers, from its edges; null where they do not say. */
export function idOfOversized({ head, tail }: Edges): MessageId | null {
  const found = AT_HEAD.exec(head)?.[1] ?? AT_TAIL.exec(tail)?.[1];
  return found === undefined ? null : (JSON.parse(found) as MessageId);
}
