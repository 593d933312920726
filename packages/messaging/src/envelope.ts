/** The `<` of what would open or close an envelope. Nothing else of a body is touched (MSG-9). */
const ENVELOPE_MARKS = /<(?=\/?agent_message)/g;

/** A body that cannot open or close an envelope (MSG-9). */
export function escapeBody(body: string): string {
  return body.replaceAll(ENVELOPE_MARKS, '&lt;');
}

/** What a recipient reads of an agent's message (MSG-9). The hint stands there only for a recipient that can answer. */
export function agentEnvelope({
  from,
  body,
  canReply,
}: {
  readonly from: string;
  readonly body: string;
  readonly canReply: boolean;
}): string {
  const sender = attribute(from);
  const hint = canReply ? `\n\n[use send_message with to "${sender}" to reply]` : '';
  return `<agent_message from="${sender}">\n${escapeBody(body)}${hint}\n</agent_message>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '"': '&quot;', '<': '&lt;', '>': '&gt;', '&': '&amp;' };

/** Handles hold none of these; a log that was written by something else may. */
function attribute(text: string): string {
  return text.replaceAll(/["<>&]/g, (character) => ENTITIES[character] ?? '').replaceAll(/\p{Cc}/gu, ' ');
}
