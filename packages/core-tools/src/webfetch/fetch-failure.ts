import { codeOf, isAgentdError, messageOf, toolError } from '@agentd/contract';

/** What a model can do about the commonest faults. */
const HINTS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the host name does not resolve; check its spelling',
  EAI_AGAIN: 'the host name cannot be resolved at the moment; check the network, then try again',
  ECONNREFUSED: 'nothing accepts connections at that host and port',
  ECONNRESET: 'the connection broke off; try again',
  EPROTO:
    'the server does not speak what the scheme of the URL says; try http:// instead of https:// or the reverse',
};

/** Any failure of a request or a body as the tool error that a model reads (WEB-15). */
export function fetchFailure(url: URL, error: unknown): unknown {
  if (isAgentdError(error)) return error;
  const hint = HINTS[codeOf(error) ?? ''];
  const detail = withoutUserInfo(deepestMessage(error));
  const message = `cannot fetch ${url.href}: ${detail}${hint === undefined ? '' : ` (${hint})`}`;
  return toolError('transport_error', message, { cause: error });
}

/** An error over several addresses has no text of its own. */
function deepestMessage(error: unknown): string {
  const { errors, cause } = (error ?? {}) as {
    readonly errors?: readonly unknown[];
    readonly cause?: unknown;
  };
  const message = messageOf(error);
  if (message !== '' && !Array.isArray(errors)) return message;
  const [first] = Array.isArray(errors) ? errors : [cause];
  return first === undefined ? (codeOf(error) ?? 'unknown failure') : deepestMessage(first);
}

/** A proxy's or a page's password must not end up in a text that is stored and sent (WEB-9). */
function withoutUserInfo(text: string): string {
  return text.replace(/\/\/[^\s/@]*@/g, '//');
}
