/** The C library of Linux, for what Node.js has no call for. */
export interface SystemLibrary {
  /** A function by its C prototype, which must be right: nothing checks it. */
  readonly func: (prototype: string) => (...args: readonly unknown[]) => unknown;
  /** Of the last call. */
  readonly errno: () => number;
}

let loading: Promise<SystemLibrary | null> | undefined;

/**
 * Loads it once a process, in some 10 to 50 ms: start that before it is needed. Never rejects; null where there is
 * none, as on other systems and without the optional package `koffi`.
 */
export function systemLibrary(): Promise<SystemLibrary | null> {
  return (loading ??= load());
}

async function load(): Promise<SystemLibrary | null> {
  if (process.platform !== 'linux') return null;
  try {
    const { default: koffi } = await import('koffi');
    const libc = koffi.load('libc.so.6');
    return { func: (prototype) => libc.func(prototype), errno: () => koffi.errno() };
  } catch {
    // Not installed, no binary for this machine, or another C library: the way without it does.
    return null;
  }
}
