import { codeOf, type ProcessGuard } from '@agentd/contract';

/** Groups that are still to be ended when this process exits, by the id of their leader, and what to do once they are. */
const living = new Map<number, () => void>();

// One listener for all: a hundred servers would otherwise warn of a leak of listeners.
const endAll = (): void => {
  for (const leader of living.keys()) signalGroup(leader, 'SIGKILL');
};

/** From now on the group dies with this process, if not before; with a guard also where this one is killed. */
export async function guardGroup(leader: number, guard: ProcessGuard = noGuard): Promise<void> {
  if (living.size === 0) process.on('exit', endAll);
  living.set(leader, nothing);
  living.set(leader, await guard(leader));
}

const nothing = (): void => undefined;
const noGuard: ProcessGuard = async () => nothing;

export function releaseGroup(leader: number): void {
  living.get(leader)?.();
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
