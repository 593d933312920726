import { readFileSync } from 'node:fs';

/** What /proc tells of a process (Linux). */
export interface ProcStat {
  /** `Z` and `X` are dead: some containers never reap theirs. */
  readonly state: string;
  readonly group: number;
  readonly session: number;
  /** Clock ticks since the machine started, as written there: with the pid, what makes a process that one and no other. */
  readonly startTime: string;
}

/** Undefined when the process is gone, and on systems without /proc. */
export function procStat(pid: number): ProcStat | undefined {
  const stat = readProc(`${pid}/stat`);
  if (stat === '') return undefined;
  // pid (name) state ppid group session …; the name may hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', , group, session] = fields;
  return { state, group: Number(group), session: Number(session), startTime: fields[19] ?? '' };
}

/** Empty when the file is gone. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return '';
  }
}
