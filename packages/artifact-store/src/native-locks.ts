import type { FileHandle } from 'node:fs/promises';
import type nativeModule from 'fs-native-extensions';

type NativeModule = typeof nativeModule;

let loading: Promise<NativeModule> | undefined;

/** The native addon is loaded at first use: most commands of a program lock nothing. */
function native(): Promise<NativeModule> {
  loading ??= import('fs-native-extensions').then((module) => module.default);
  return loading;
}

export type LockKind = 'exclusive' | 'shared';

/**
 * Locks the open file as a whole, without waiting; false when somebody else's lock stands against it.
 * The lock belongs to this opening of the file, not to the process, and ends when the handle is closed.
 */
export async function tryLock(file: FileHandle, kind: LockKind): Promise<boolean> {
  return (await native()).tryLock(file.fd, { shared: kind === 'shared' });
}
