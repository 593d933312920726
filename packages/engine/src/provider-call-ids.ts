import type { Ids } from '@agentd/contract';
import type { AssignCallId } from './stream-reducer.ts';

/** What every provider takes as the id of a call. */
const VALID_CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Ids for the calls of one turn. A received id stays when every provider takes it and nothing in the session or the
 * turn has it yet; any other call gets a new one (field I4, SCH-9).
 */
export function providerCallIds(ids: Ids, isTaken: (id: string) => boolean): AssignCallId {
  const given = new Set<string>();
  const isFree = (id: string): boolean => !given.has(id) && !isTaken(id);
  return (received) => {
    let id = received;
    while (!VALID_CALL_ID.test(id) || !isFree(id)) id = `call_${ids.hex(24)}`;
    given.add(id);
    return id;
  };
}
