import type { JsonObject, JsonValue } from '@agentd/contract';

/** A link that a server gave, with the call that follows it. Everything in it is a claim. */
export function linkText(link: JsonObject, server: string): string {
  const uri = textOf(link['uri']);
  const name = textOf(link['name']) || textOf(link['title']);
  const size = typeof link['size'] === 'number' ? `${link['size'].toLocaleString('en-US')} bytes` : '';
  const facts = [textOf(link['mimeType']), size, textOf(link['description'])].filter((fact) => fact !== '');
  const about = facts.length === 0 ? '' : `; ${facts.join('; ')}`;
  const call = JSON.stringify({ server, uri });
  return `[MCP resource link: ${name === '' ? uri : `${name} (${uri})`}${about}; read it with mcp_read_resource ${call}]`;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ') : '';
}
