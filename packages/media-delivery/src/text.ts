/** Control characters that stand in text: backspace, tab, line feed, form feed, carriage return, escape. */
const TEXT_CONTROLS = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d, 0x1b]);

/** Whether the beginning of a file is UTF-8 text without control characters; a character may be cut at its end. */
export function isText(head: Uint8Array): boolean {
  // The decoder looks at all of it: first look for what ends the question in most media within a few bytes.
  for (const byte of head.subarray(0, 64)) if (isControl(byte)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
  } catch {
    return false; // not UTF-8
  }
  return !head.some(isControl);
}

const isControl = (byte: number): boolean => (byte < 0x20 && !TEXT_CONTROLS.has(byte)) || byte === 0x7f;
