/** What every program may know, whoever refers to it: without them commands do not work (MCP-7). */
const COMMON = /^(?:PATH|HOME|LANG|LC_.*|TERM|USER|SHELL|TMPDIR)$/;

/** The variables that commands do not get: those that hold credentials, but for what the user passes on (BASH-2). */
export function withheldVariables(
  credentials: readonly string[],
  passed: readonly string[],
): readonly string[] {
  return [...new Set(credentials)].filter((name) => !passed.includes(name) && !COMMON.test(name));
}
