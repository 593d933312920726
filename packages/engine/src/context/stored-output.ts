import { ARTIFACT_SCHEME, type ArtifactReference, type CallReport } from '@agentd/contract';
import type { TurnCall } from '../call-ledger.ts';

/** Where a result can be read again. */
export interface StoredOutput {
  /** As a model reads them. */
  readonly uris: readonly string[];
  /** As events store them. */
  readonly references: readonly ArtifactReference[];
}

const STORED = /^artifact:\/\/sha256\/([0-9a-f]{64})$/;
const PUBLIC = /^artifact:\/\/([0-9a-f]{64})(?:\/[^/]+)?$/;

/** Where the whole output of a call lies; null where nothing was stored of it. */
export function storedOutput({ report, started }: Pick<TurnCall, 'report' | 'started'>): StoredOutput | null {
  // A page of an artifact is not stored again: it can be read where it came from.
  const source = PUBLIC.exec(started?.label ?? '')?.[1];
  if (source !== undefined) return { uris: [started?.label ?? ''], references: [storedReference(source)] };
  return retainedOutput(report?.retained_output ?? null);
}

/** One artifact under its digest. */
export function storedBlob(sha256: string): StoredOutput {
  return { uris: [`${ARTIFACT_SCHEME}${sha256}`], references: [storedReference(sha256)] };
}

function retainedOutput(retained: CallReport['retained_output']): StoredOutput | null {
  const digest = STORED.exec(String(retained?.reference?.uri))?.[1];
  if (digest === undefined) return null;
  const streams = Array.isArray(retained?.streams) ? retained.streams : [];
  const named = streams.filter(({ name, byte_length }) => name !== null && byte_length > 0);
  const { uris, references } = storedBlob(digest);
  return { uris: named.length === 0 ? uris : named.map(({ name }) => `${uris[0]}/${name}`), references };
}

function storedReference(sha256: string): ArtifactReference {
  return { uri: `${ARTIFACT_SCHEME}sha256/${sha256}` };
}
