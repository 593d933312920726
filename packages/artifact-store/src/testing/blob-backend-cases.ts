import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { deepStrictEqual, notStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import type { ContractCase } from '@agentd/contract/testing';
import type { BlobBackend, BlobSource } from '../blob-backend.ts';

const SMALL = Buffer.from('one\ntwo €\n');
const OTHER = Buffer.from('other');
const MIB = 1024 * 1024;
/** A store's clock and a backend's may differ by this much. */
const CLOCK_TOLERANCE_MS = 60_000;

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A source that reuses its one buffer for every chunk, as the store's do. */
function sourceOf(bytes: Uint8Array): BlobSource {
  return {
    byteLength: bytes.length,
    chunks: async function* () {
      const buffer = Buffer.alloc(64 * 1024);
      for (let at = 0; at < bytes.length; at += buffer.length) {
        const part = bytes.subarray(at, at + buffer.length);
        buffer.set(part);
        yield buffer.subarray(0, part.length);
        buffer.fill(0x21);
      }
    },
  };
}

async function read(
  backend: BlobBackend,
  digest: string,
  range = { start: 0, end: Infinity },
): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of backend.get(digest, range)) {
    ok(chunk.length > 0 && chunk.length <= MIB, `a chunk has ${chunk.length} bytes`);
    parts.push(Buffer.from(chunk));
  }
  return Buffer.concat(parts);
}

async function digestsOf(backend: BlobBackend): Promise<readonly string[]> {
  const digests: string[] = [];
  for await (const { digest } of backend.list()) digests.push(digest);
  return digests.toSorted();
}

function mebibytes(count: number): Buffer {
  return Buffer.from(Array.from({ length: count * 4096 }, (_, at) => `${at}`.padEnd(256)).join(''));
}

/** What every `BlobBackend` owes. The subject is empty, and its clock shows about the time of the machine. */
export const blobBackendCases: readonly ContractCase<BlobBackend>[] = [
  {
    name: 'gives back what was put, and tells its size and time',
    run: async (backend) => {
      strictEqual(await backend.put(digestOf(SMALL), sourceOf(SMALL)), true);
      deepStrictEqual(await read(backend, digestOf(SMALL)), SMALL);
      const stat = await backend.stat(digestOf(SMALL));
      strictEqual(stat?.byteLength, SMALL.length);
      ok(Math.abs(Date.now() - (stat?.modifiedMs ?? 0)) < CLOCK_TOLERANCE_MS, 'it is of now');
    },
  },
  {
    name: 'keeps content of several megabytes and of no byte',
    run: async (backend) => {
      for (const bytes of [mebibytes(3), Buffer.alloc(0)]) {
        strictEqual(await backend.put(digestOf(bytes), sourceOf(bytes)), true);
        strictEqual(digestOf(await read(backend, digestOf(bytes))), digestOf(bytes));
      }
    },
  },
  {
    name: 'yields exactly the range, and what there is of one that reaches past the end',
    run: async (backend) => {
      const bytes = mebibytes(1);
      const digest = digestOf(bytes);
      await backend.put(digest, sourceOf(bytes));
      for (const [start, end] of [
        [0, 1],
        [5, 5],
        [70_001, 400_003],
        [MIB - 3, MIB],
        [MIB - 3, MIB + 9],
        [MIB, MIB + 1],
      ] as const) {
        deepStrictEqual(await read(backend, digest, { start, end }), bytes.subarray(start, end));
      }
    },
  },
  {
    name: 'lets a reader stop early, and read again',
    run: async (backend) => {
      const bytes = mebibytes(2);
      await backend.put(digestOf(bytes), sourceOf(bytes));
      for await (const chunk of backend.get(digestOf(bytes), { start: 0, end: bytes.length })) {
        ok(chunk.length > 0);
        break;
      }
      strictEqual((await read(backend, digestOf(bytes))).length, bytes.length);
    },
  },
  {
    name: 'refuses to put where something is, and changes nothing',
    run: async (backend) => {
      const digest = digestOf(SMALL);
      await backend.put(digest, sourceOf(SMALL));
      const before = await backend.stat(digest);
      strictEqual(await backend.put(digest, sourceOf(OTHER)), false);
      deepStrictEqual(await read(backend, digest), SMALL);
      deepStrictEqual(await backend.stat(digest), before);
    },
  },
  {
    name: 'lets one of several concurrent puts win, whole',
    run: async (backend) => {
      const bytes = mebibytes(1);
      const puts = Array.from({ length: 8 }, () => backend.put(digestOf(bytes), sourceOf(bytes)));
      strictEqual((await Promise.all(puts)).filter(Boolean).length, 1);
      deepStrictEqual(await read(backend, digestOf(bytes)), bytes);
    },
  },
  {
    name: 'leaves nothing behind when a source fails',
    run: async (backend) => {
      const failing: BlobSource = {
        byteLength: 10,
        chunks: async function* () {
          yield Buffer.from('half');
          throw new Error('the source broke');
        },
      };
      await rejects(async () => backend.put(digestOf(SMALL), failing), /the source broke/);
      strictEqual(await backend.stat(digestOf(SMALL)), null);
      deepStrictEqual(await digestsOf(backend), []);
    },
  },
  {
    name: 'replaces what is there by the right content, also where nothing is, and tells another version',
    run: async (backend) => {
      const digest = digestOf(SMALL);
      await backend.put(digest, sourceOf(OTHER)); // Damage: the content of another name.
      const before = await backend.stat(digest);
      await backend.replace(digest, sourceOf(SMALL));
      deepStrictEqual(await read(backend, digest), SMALL);
      notStrictEqual((await backend.stat(digest))?.version, before?.version);
      await backend.replace(digestOf(OTHER), sourceOf(OTHER));
      deepStrictEqual(await digestsOf(backend), [digest, digestOf(OTHER)].toSorted());
    },
  },
  {
    name: 'is never without a blob while it is being replaced',
    run: async (backend) => {
      const digest = digestOf(SMALL);
      await backend.put(digest, sourceOf(SMALL));
      const progress = { done: false };
      const replacing = (async () => {
        for (let round = 0; round < 20; round += 1) await backend.replace(digest, sourceOf(SMALL));
        progress.done = true;
      })();
      while (!progress.done) notStrictEqual(await backend.stat(digest), null);
      await replacing;
    },
  },
  {
    name: 'refreshes a blob: content as before, time of now, and what stat then tells',
    run: async (backend) => {
      const digest = digestOf(SMALL);
      await backend.put(digest, sourceOf(SMALL));
      const refreshed = await backend.refresh(digest);
      ok((refreshed?.modifiedMs ?? 0) > Date.now() - CLOCK_TOLERANCE_MS);
      deepStrictEqual(refreshed, await backend.stat(digest));
      deepStrictEqual(await read(backend, digest), SMALL);
    },
  },
  {
    name: 'tells the same version as long as nothing changes, whoever reads',
    run: async (backend) => {
      const digest = digestOf(SMALL);
      await backend.put(digest, sourceOf(SMALL));
      const before = await backend.stat(digest);
      await read(backend, digest);
      deepStrictEqual(await backend.stat(digest), before);
    },
  },
  {
    name: 'lists every blob once, with what stat tells',
    run: async (backend) => {
      for (const bytes of [SMALL, OTHER]) await backend.put(digestOf(bytes), sourceOf(bytes));
      deepStrictEqual(await digestsOf(backend), [digestOf(SMALL), digestOf(OTHER)].toSorted());
      for await (const { digest, ...stat } of backend.list())
        deepStrictEqual(stat, await backend.stat(digest));
    },
  },
  {
    name: 'knows nothing of a blob that was never put, or was deleted, and can delete it again',
    run: async (backend) => {
      const digest = digestOf(SMALL);
      await backend.delete(digest);
      await backend.put(digest, sourceOf(SMALL));
      await backend.delete(digest);
      await backend.delete(digest);
      strictEqual(await backend.stat(digest), null);
      strictEqual(await backend.refresh(digest), null);
      await rejects(async () => read(backend, digest), { code: 'ENOENT' });
      deepStrictEqual(await digestsOf(backend), []);
      strictEqual(await backend.put(digest, sourceOf(SMALL)), true);
    },
  },
];
