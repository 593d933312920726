import { codeOf } from '@agentd/contract';

/** Groups that are still to be ended when this process exits, by the id of their leader. */
const living = new Set<number>();

// One listener for all: a hundred servers would otherwise warn of a leak of listeners.
const endAll = (): void => {
  for (const leader of living) signalGroup(leader, 'SIGKILL');
};

/** From now on the group dies with this process, if not before. */
export function guardGroup(leader: number): void {
  if (living.size === 0) process.on('exit', endAll);
  living.add(leader);
}

export function releaseGroup(leader: number): void {
  living.delete(leader);
  if (living.size === 0) process.off('exit', endAll);
}

/** Sends a signal to every process of the group; 0 only asks. False where none is left. */
export function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-leader, signal);
    return true;
  } catch (error) {
    // EPERM: some member changed its user; the others got the signal.
    return codeOf(error) === 'EPERM';
  }
}
