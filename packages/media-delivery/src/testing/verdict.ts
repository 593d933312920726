import { sniff, type Sniffed } from '../sniff.ts';

/** A file in memory that counts what is read of it. */
export function memoryContent(bytes: Uint8Array): {
  readonly byteLength: number;
  readonly read: (offset: number, length: number) => Promise<Uint8Array>;
  readonly reads: () => number;
} {
  let reads = 0;
  return {
    byteLength: bytes.length,
    read: async (offset, length) => {
      const part = bytes.subarray(offset, offset + length);
      reads += part.length;
      return part;
    },
    reads: () => reads,
  };
}

export const sniffBytes = (bytes: Uint8Array): Promise<Sniffed> =>
  sniff(memoryContent(bytes), new AbortController().signal);
