import { malformed } from './fault.ts';
import type { MediaFacts } from './facts.ts';
import type { ByteReader } from './byte-reader.ts';
import { nextChunk, riffBody } from './riff.ts';

/** Every chunk, a sound format, and data after it. */
export function walkWav(bytes: Uint8Array): MediaFacts {
  const body = riffBody(bytes);
  let hasFormat = false;
  let dataBytes = 0;
  while (body.left > 0) {
    const { id, data } = nextChunk(body);
    if (id === 'fmt ') {
      checkFormat(data);
      hasFormat = true;
    }
    if (id === 'data') {
      if (!hasFormat) malformed('its sound data comes before its format');
      dataBytes += data.left;
    }
  }
  if (!hasFormat) malformed('it has no format chunk ("fmt ")');
  if (dataBytes === 0) malformed('it has no sound data');
  return {};
}

function checkFormat(format: ByteReader): void {
  format.skip(2);
  const channels = format.u16le();
  const rate = format.u32le();
  format.skip(4);
  const blockBytes = format.u16le();
  format.skip(2);
  if (channels === 0 || rate === 0 || blockBytes === 0) {
    malformed(`its format says ${channels} channels, ${rate} Hz and blocks of ${blockBytes} bytes`);
  }
}
