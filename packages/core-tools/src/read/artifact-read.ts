import { toolError, type ArtifactReader, type PreparedCall } from '@agentd/contract';
import type { PageRequest } from './page-frame.ts';

/** Access is by possession: the URI is label and identity, no path takes part (ART-4, ART-5, ART-8). */
export function prepareArtifactRead(
  artifacts: ArtifactReader | null,
  uri: string,
  request: PageRequest,
): PreparedCall {
  if (artifacts === null)
    throw toolError('not_supported', 'no output is retained here, so there are no artifacts to read');
  const address = artifacts.parse(uri);
  return {
    permission: { action: 'read', label: uri },
    operation: { tool: 'read', artifact: uri, ...request },
    execute: async (_context, signal) => {
      const { text, nextOffset } = await artifacts.page({ address, ...request }, signal);
      return {
        output: { kind: 'single', text },
        metadata: {
          kind: 'artifact',
          offset: request.offset,
          ...(nextOffset !== null && { next_offset: nextOffset }),
        },
      };
    },
  };
}
