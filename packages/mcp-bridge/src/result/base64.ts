const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const BLANKS = /[\r\n\t ]+/g;

/** The bytes of base64 text, with line breaks or without; null for what is no base64 (field H21). */
export function decodedBase64(text: string): Buffer | null {
  const dense = BLANKS.test(text) ? text.replaceAll(BLANKS, '') : text;
  const digits = dense.replace(/=+$/, '').length;
  if (digits % 4 === 1 || !BASE64.test(dense)) return null;
  // A slice of a pool of buffers would change under whoever keeps it.
  return Buffer.from(dense, 'base64');
}
