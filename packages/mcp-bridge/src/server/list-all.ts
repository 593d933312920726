import { mcpError } from '../errors.ts';
import type { ListKind, McpConnection } from '../ports.ts';

/** More than this is no list but an attack, or a server that hands out one cursor for ever. */
const MAX_LISTED = 10_000;

/** All pages of a list (MCP-4, field H11). Rejects with `MCP_PROTOCOL` for a list without an end. */
export async function listAll(
  connection: McpConnection,
  kind: ListKind,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await connection.list(kind, cursor, signal);
    items.push(...page.items);
    cursor = page.nextCursor;
    if (items.length > MAX_LISTED) throw mcpError('MCP_PROTOCOL', `its list has over ${MAX_LISTED} entries`);
    if (cursor !== undefined && seen.has(cursor)) {
      throw mcpError('MCP_PROTOCOL', 'the pages of its list go round in a circle');
    }
    if (cursor !== undefined) seen.add(cursor);
    if (seen.size > MAX_LISTED) throw mcpError('MCP_PROTOCOL', 'its list has no end');
  } while (cursor !== undefined);
  return items;
}
