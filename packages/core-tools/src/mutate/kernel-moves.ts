import { getSystemErrorMessage, getSystemErrorName } from 'node:util';
import { systemLibrary, type SystemLibrary } from '../system-library.ts';

/** What the kernel does in one step and Node.js has no call for: `renameat2` and `flock` of Linux (FS-9). */
export interface KernelMoves {
  /** Exchanges what two names stand for. False where the kernel or the file system cannot; else as a rename fails. */
  readonly exchange: (one: string, other: string) => boolean;
  /** Moves to a name that must be free: throws `EEXIST`. False where the kernel or the file system cannot. */
  readonly moveToFree: (from: string, to: string) => boolean;
  /**
   * Takes the lock of an open file, which closing it gives back, without waiting. `unable`: the file system has no such
   * locks, or not for a file that is open for reading.
   */
  readonly lock: (fd: number) => 'taken' | 'held' | 'unable';
}

const AT_FDCWD = -100;
const RENAME_NOREPLACE = 1;
const RENAME_EXCHANGE = 2;
const LOCK_EX = 2;
const LOCK_NB = 4;

/** "I cannot do that". EPERM is what some sandboxes say instead; whoever may not rename hears it once more. */
const UNABLE: ReadonlySet<string> = new Set(['EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM']);

let loading: Promise<KernelMoves | null> | undefined;

/** Null where there are none: see `systemLibrary`. Start it before it is needed. Never rejects. */
export function kernelMoves(): Promise<KernelMoves | null> {
  return (loading ??= systemLibrary().then((library) => library && movesOf(library)));
}

function movesOf({ func, errno }: SystemLibrary): KernelMoves {
  const renameat2 = func('int renameat2(int, const char *, int, const char *, unsigned int)');
  const flock = func('int flock(int, int)');
  const move = (from: string, to: string, flag: number): boolean =>
    renameat2(AT_FDCWD, from, AT_FDCWD, to, flag) === 0 || refusal(errno());
  return {
    exchange: (one, other) => move(one, other, RENAME_EXCHANGE),
    moveToFree: (from, to) => move(from, to, RENAME_NOREPLACE),
    lock: (fd) => {
      if (flock(fd, LOCK_EX | LOCK_NB) === 0) return 'taken';
      return getSystemErrorName(-errno()) === 'EAGAIN' ? 'held' : 'unable';
    },
  };
}

function refusal(errno: number): false {
  const code = getSystemErrorName(-errno);
  if (UNABLE.has(code)) return false;
  throw Object.assign(new Error(`${code}: ${getSystemErrorMessage(-errno)}`), { code });
}
