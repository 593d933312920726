import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';
import { soundEnd, soundStart } from './tags.ts';

/** So many frames in a row are no accident. */
const FRAMES_TO_TRUST = 3;

interface Version {
  /** kbit/s by index. */
  readonly rates: readonly number[];
  /** Samples of a frame, an eighth of them, times 1000. */
  readonly factor: number;
  /** By how much the sample rate is lower than that of MPEG 1. */
  readonly divisor: number;
}

const RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** Hz by index for MPEG 1; MPEG 2 has half of it, MPEG 2.5 a quarter. */
const SAMPLE_RATES = [44_100, 48_000, 32_000];

/** By the two bits of the header: MPEG 2.5, none, MPEG 2, MPEG 1. */
const VERSIONS: readonly (Version | undefined)[] = [
  { rates: RATES_2, factor: 72_000, divisor: 4 },
  undefined,
  { rates: RATES_2, factor: 72_000, divisor: 2 },
  { rates: RATES_1, factor: 144_000, divisor: 1 },
];

interface Frame {
  /** Bytes, header included. */
  readonly length: number;
  /** Version and sample rate: the same in every frame of a file. */
  readonly stream: number;
}

/** Every frame between the tags, one right after the other. */
export function walkMp3(bytes: Uint8Array): MediaFacts {
  const start = soundStart(bytes);
  const end = soundEnd(bytes);
  if (start >= end) malformed(`it ends inside its tag, or has nothing but tags (${bytes.length} bytes)`);
  let at = start;
  let frames = 0;
  let stream: number | undefined;
  while (at < end && !isPadding(bytes, at, end)) {
    const frame = frameAt(bytes, at);
    if (frame === undefined)
      malformed(`no MPEG layer III frame stands at byte ${at}, after ${frames} frames`);
    stream ??= frame.stream;
    if (frame.stream !== stream) malformed(`the frame at byte ${at} has another sample rate than the first`);
    if (at + frame.length > end) {
      malformed(
        `frame ${frames + 1} is cut off: it needs ${frame.length} bytes at byte ${at}, and ${end - at} are left`,
      );
    }
    at += frame.length;
    frames += 1;
  }
  if (frames === 0) malformed('it has no frame');
  return {};
}

/** Whether several frames that agree stand at `at`, which is how MP3 without a tag is known. */
export function hasFrames(bytes: Uint8Array, at = 0): boolean {
  let stream: number | undefined;
  let next = at;
  for (let count = 0; count < FRAMES_TO_TRUST; count += 1) {
    const frame = frameAt(bytes, next);
    if (frame === undefined || frame.stream !== (stream ?? frame.stream)) return false;
    stream = frame.stream;
    next += frame.length;
  }
  return next <= bytes.length;
}

function frameAt(bytes: Uint8Array, at: number): Frame | undefined {
  const [sync = 0, kind = 0, rates = 0] = bytes.subarray(at, at + 3);
  const version = VERSIONS[(kind >> 3) & 3];
  if (sync !== 0xff || (kind & 0xe6) !== 0xe2 || version === undefined) return undefined;
  const rate = version.rates[rates >> 4] ?? 0;
  const base = SAMPLE_RATES[(rates >> 2) & 3];
  if (rate === 0 || base === undefined) return undefined;
  const length = Math.floor((version.factor * rate * version.divisor) / base) + ((rates >> 1) & 1);
  return { length, stream: version.divisor * 4 + ((rates >> 2) & 3) };
}

/** Some writers fill the last block with zeros. */
function isPadding(bytes: Uint8Array, at: number, end: number): boolean {
  return bytes[at] === 0 && bytes.subarray(at, end).every((byte) => byte === 0);
}
