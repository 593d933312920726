import { ARTIFACT_SCHEME, isStreamName, toolError } from '@agentd/contract';
import type { AgentdError, ArtifactAddress, ArtifactReference, ToolErrorCode } from '@agentd/contract';

const DIGEST = /^[0-9a-f]{64}$/;
const STORED_PREFIX = `${ARTIFACT_SCHEME}sha256/`;

/** Reads `artifact://<digest>` or `artifact://<digest>/<stream>`; throws `artifact_uri` for anything else (ART-3, ART-6). */
export function parseArtifactUri(uri: string): ArtifactAddress {
  if (!uri.startsWith(ARTIFACT_SCHEME)) throw uriError(uri, `it does not start with ${ARTIFACT_SCHEME}`);
  if (uri.startsWith(STORED_PREFIX)) throw uriError(uri, 'leave out "sha256/"');
  const [digest = '', ...segments] = uri.slice(ARTIFACT_SCHEME.length).split('/');
  if (!DIGEST.test(digest)) throw uriError(uri, 'the digest must be 64 lowercase hex digits');
  const [stream, ...more] = segments;
  if (stream === undefined) return { digest, stream: null };
  if (more.length > 0) throw uriError(uri, 'only one stream name may follow the digest');
  if (!isStreamName(stream)) throw uriError(uri, 'the part after the digest is not a stream name');
  return { digest, stream };
}

/** The public form, as hints show it and `parseArtifactUri` takes it (ART-3). */
export function formatArtifactUri({ digest, stream }: ArtifactAddress): string {
  return `${ARTIFACT_SCHEME}${digest}${stream === null ? '' : `/${stream}`}`;
}

/** The form that events store (ART-3). */
export function storedReference(digest: string): ArtifactReference {
  return { uri: `${STORED_PREFIX}${digest}` };
}

const SHOWN_LENGTH = 120;

function uriError(uri: string, problem: string): AgentdError<ToolErrorCode> {
  const shown = uri.length > SHOWN_LENGTH ? `${uri.slice(0, SHOWN_LENGTH)}…` : uri;
  return toolError(
    'artifact_uri',
    `${JSON.stringify(shown)} is no artifact URI: ${problem}; ` +
      'use artifact://<64 lowercase hex digits> or artifact://<digest>/<stream>',
  );
}
