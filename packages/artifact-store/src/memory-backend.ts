import { Buffer } from 'node:buffer';
import { AgentdError, systemClock, type Clock } from '@agentd/contract';
import type { BlobBackend, BlobSource, BlobStat } from './blob-backend.ts';

interface MemoryBlob {
  readonly bytes: Buffer;
  readonly modifiedMs: number;
  readonly version: string;
}

const CHUNK_BYTES = 64 * 1024;

/** Blobs in the memory of this process: for tests, and for output that need not outlive it. */
export function memoryBackend(clock: Clock = systemClock): BlobBackend {
  const blobs = new Map<string, MemoryBlob>();
  let versions = 0;
  const keep = (digest: string, bytes: Buffer): BlobStat => {
    versions += 1;
    const blob = { bytes, modifiedMs: clock.now(), version: String(versions) };
    blobs.set(digest, blob);
    return statOf(blob);
  };
  return {
    put: async (digest, source) => {
      const bytes = await bytesOf(source);
      if (blobs.has(digest)) return false;
      keep(digest, bytes);
      return true;
    },
    replace: async (digest, source) => void keep(digest, await bytesOf(source)),
    refresh: async (digest) => {
      const blob = blobs.get(digest);
      return blob === undefined ? null : keep(digest, blob.bytes);
    },
    get: async function* (digest, { start, end }) {
      const blob = blobs.get(digest);
      if (blob === undefined) throw new AgentdError('ENOENT', `no blob ${digest}`);
      const last = Math.min(end, blob.bytes.length);
      for (let at = start; at < last; at += CHUNK_BYTES) {
        yield Uint8Array.from(blob.bytes.subarray(at, Math.min(last, at + CHUNK_BYTES)));
      }
    },
    stat: async (digest) => {
      const blob = blobs.get(digest);
      return blob === undefined ? null : statOf(blob);
    },
    list: async function* () {
      for (const [digest, blob] of blobs) yield { digest, ...statOf(blob) };
    },
    delete: async (digest) => void blobs.delete(digest),
  };
}

function statOf({ bytes, modifiedMs, version }: MemoryBlob): BlobStat {
  return { byteLength: bytes.length, modifiedMs, version };
}

/** A copy: the source may reuse its chunks. */
async function bytesOf(source: BlobSource): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of source.chunks()) parts.push(Uint8Array.from(chunk));
  return Buffer.concat(parts);
}
