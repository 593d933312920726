/** `Date.parse` takes nearly anything for a date, `-5` too. */
const HTTP_DATE = /^\s*[A-Za-z]{3,9},? /;

/** The time that a server asks to wait, in ms: `retry-after-ms`, or `retry-after` as seconds or as a date (SES-9). */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const precise = numberIn(headers['retry-after-ms']);
  if (precise !== undefined) return precise;
  const value = headers['retry-after'];
  const seconds = numberIn(value);
  if (seconds !== undefined) return seconds * 1000;
  const date = value !== undefined && HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function numberIn(value: string | undefined): number | undefined {
  if (value === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) return undefined;
  return Number(value);
}
