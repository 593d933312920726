import { ByteReader } from './byte-reader.ts';
import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';

const EBML = 0x1a45dfa3;
const DOC_TYPE = 0x4282;
const SEGMENT = 0x18538067;
const TRACKS = 0x1654ae6b;
const CLUSTER = 0x1f43b675;
const TRACK_ENTRY = 0xae;
const TRACK_TYPE = 0x83;
const VOID = 0xec;
const CHECKSUM = 0xbf;
/** Every child of a segment has an ID of four bytes, no child of a cluster has; so an open cluster ends. */
const LEVEL_1 = 0x10000000;

interface Element {
  readonly id: number;
  /** The rest of the outer element where the size is unknown, as live writers leave it. */
  readonly data: ByteReader;
  readonly isOpen: boolean;
}

interface Found {
  clusters: number;
  readonly trackTypes: Set<number>;
}

/** Every element down to the blocks; sizes that live writers leave open included. */
export function walkMatroska(bytes: Uint8Array): MediaFacts {
  const file = new ByteReader(bytes);
  const found: Found = { clusters: 0, trackTypes: new Set() };
  let segments = 0;
  while (file.left > 0) {
    const { id, data, isOpen } = nextElement(file);
    if (isOpen && id !== SEGMENT) malformed(`the element at byte ${data.at} has no size`);
    if (id === SEGMENT) {
      segments += 1;
      walkSegment(data, found);
    } else if (id !== EBML && id !== VOID && id !== CHECKSUM) {
      malformed(`an unknown element ${hex(id)} stands beside the segment, before byte ${data.at}`);
    }
  }
  if (segments === 0) malformed('it has no segment');
  if (found.clusters === 0) malformed('it has no cluster, that is no film data');
  if (!found.trackTypes.has(1))
    malformed('it has no video track; sound alone is not taken in this container');
  return {};
}

/** The DocType of the EBML header; undefined where there is none. */
export function docType(head: Uint8Array): string | undefined {
  try {
    const header = nextElement(new ByteReader(head)).data;
    while (header.left > 0) {
      const { id, data } = nextElement(header);
      if (id === DOC_TYPE) return data.ascii(data.left).replace(/\0+$/, '');
    }
  } catch {
    // A fault: the header does not fit into the head, or is none.
  }
  return undefined;
}

function walkSegment(segment: ByteReader, found: Found): void {
  while (segment.left > 0) {
    const { id, data, isOpen } = nextElement(segment);
    if (id === CLUSTER) {
      found.clusters += 1;
      walkCluster(data, isOpen);
      if (isOpen) segment.at = data.at;
    } else if (isOpen) malformed(`the element ${hex(id)} before byte ${data.at} has no size`);
    else if (id === TRACKS) walkTracks(data, found);
  }
}

function walkCluster(cluster: ByteReader, isOpen: boolean): void {
  while (cluster.left > 0) {
    const { at } = cluster;
    const { id, isOpen: hasNoSize } = nextElement(cluster, isOpen);
    if (isOpen && id >= LEVEL_1) {
      cluster.at = at;
      return;
    }
    if (hasNoSize) malformed(`the element ${hex(id)} at byte ${at} has no size`);
  }
}

function walkTracks(tracks: ByteReader, found: Found): void {
  while (tracks.left > 0) {
    const track = nextElement(tracks);
    if (track.id !== TRACK_ENTRY) continue;
    while (track.data.left > 0) {
      const { id, data } = nextElement(track.data);
      if (id === TRACK_TYPE && data.left > 0) found.trackTypes.add(data.u8());
    }
  }
}

/** With `peeksLevel1` an element of the outer level is only looked at: its size may reach past the cluster. */
function nextElement(reader: ByteReader, peeksLevel1 = false): Element {
  const { at } = reader;
  reader.part = `the element at byte ${at}`;
  const id = variable(reader, 4, false);
  if (peeksLevel1 && id.value >= LEVEL_1) return { id: id.value, data: reader, isOpen: true };
  const size = variable(reader, 8, true);
  const isOpen = size.isAllOnes;
  const data = reader.within(isOpen ? reader.left : size.value, `the element ${hex(id.value)} at byte ${at}`);
  return { id: id.value, data, isOpen };
}

function variable(
  reader: ByteReader,
  maxBytes: number,
  dropsMarker: boolean,
): { readonly value: number; readonly isAllOnes: boolean } {
  const from = reader.at;
  const first = reader.u8();
  const length = Math.clz32(first) - 23;
  if (length > maxBytes) malformed(`no element stands at byte ${from}`);
  const mask = (1 << (8 - length)) - 1;
  let value = dropsMarker ? first & mask : first;
  let isAllOnes = (first & mask) === mask;
  for (const byte of reader.take(length - 1)) {
    value = value * 256 + byte;
    isAllOnes &&= byte === 0xff;
  }
  return { value, isAllOnes };
}

const hex = (id: number): string => id.toString(16).toUpperCase();
