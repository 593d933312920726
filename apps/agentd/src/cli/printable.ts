/** Text from outside, made safe to show: a control character that could move, hide or rewrite something becomes U+FFFD. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replaceAll(/\r(?=\n)/g, '').replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, '\uFFFD');
}
