import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DEFAULT_OUTPUT_LIMITS, randomIds, systemClock } from '@agentd/contract';
import type {
  CaptureRequest,
  CaptureResult,
  OutputChunk,
  OutputDeclaration,
  OutputLimits,
} from '@agentd/contract';
import { openArtifactStore, type ArtifactStore } from '../artifact-store.ts';
import { fileLocks } from '../file-locks.ts';

export const SINGLE: OutputDeclaration = { kind: 'single' };
export const BASH: OutputDeclaration = { kind: 'named', streams: ['stdout', 'stderr'], terminal: true };
export const NO_ABORT: AbortSignal = new AbortController().signal;

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

export async function openStore(
  parent: string,
): Promise<{ readonly store: ArtifactStore; readonly folder: string }> {
  const folder = join(parent, 'artifacts');
  const store = await openArtifactStore({ folder, locks: fileLocks, clock: systemClock, ids: randomIds });
  return { store, folder };
}

export function requestOf(
  declaration: OutputDeclaration,
  limits: Partial<OutputLimits> = {},
): CaptureRequest {
  return { callId: randomIds.uuid(), declaration, limits: { ...DEFAULT_OUTPUT_LIMITS, ...limits } };
}

/** Captures the chunks one by one, publishes and releases. */
export async function captureAll(
  store: ArtifactStore,
  request: CaptureRequest,
  chunks: readonly OutputChunk[],
): Promise<CaptureResult> {
  const capture = await store.capture(request);
  for (const chunk of chunks) await capture.accept([chunk]);
  const result = await capture.finish({ incomplete: false });
  await result.release();
  return result;
}

/** All pages of `limit` lines from `offset` on, as `read` would get them by following `next_offset`. */
export async function readPages(
  store: ArtifactStore,
  uri: string,
  { offset = 0, limit = 2000 }: { readonly offset?: number; readonly limit?: number } = {},
): Promise<readonly string[]> {
  const texts: string[] = [];
  for (let next: number | null = offset; next !== null;) {
    const page = await store.page({ address: store.parse(uri), offset: next, limit }, NO_ABORT);
    texts.push(page.text);
    next = page.nextOffset;
  }
  return texts;
}

/** What a hint in a result tells the model to read. */
export function hintOf(text: string): { readonly uri: string; readonly offset: number } | null {
  const found = /^\[Truncated\. Read more: read\(filePath="([^"]+)", offset=(\d+)\)\]$/m.exec(text);
  return found === null ? null : { uri: found[1] ?? '', offset: Number(found[2]) };
}
