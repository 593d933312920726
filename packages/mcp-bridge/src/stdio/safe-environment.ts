/** What every program may know (MCP-7). Keys and tokens of ours are not among it. */
const BASE = ['PATH', 'HOME', 'LANG', 'TERM', 'USER', 'SHELL', 'TMPDIR'] as const;

/** The environment of a server: the safe base, and over it what the user configured (MCP-7). */
export function safeEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = [...BASE, ...Object.keys(own).filter((name) => name.startsWith('LC_'))];
  const base = names.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(base), ...configured };
}
