import { isUtf8 } from 'node:buffer';
import { toolError } from '@agentd/contract';
import { withoutCredentials } from './web-url.ts';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Where an answer sends its reader, or null when it is a result itself (WEB-11).
 * Throws `redirect_error` for a target that cannot be fetched.
 */
export function redirectTarget(status: number, location: string | undefined, from: URL): URL | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const text = headerText(location);
  const target = URL.parse(text, from.href);
  if (target === null) {
    throw toolError(
      'redirect_error',
      `${from.href} redirects to ${JSON.stringify(text)}, which is no valid URL`,
    );
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:') {
    const shown = withoutCredentials(target).href;
    throw toolError(
      'redirect_error',
      `${from.href} redirects to ${shown}, which is not an http or https URL`,
    );
  }
  if (target.hash === '') target.hash = from.hash;
  return target;
}

/** Node reads headers as Latin-1; servers that do not escape their addresses send UTF-8. */
function headerText(header: string): string {
  const bytes = Buffer.from(header, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : header;
}
