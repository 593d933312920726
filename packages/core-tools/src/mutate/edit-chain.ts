import { isSameState, type FileState } from '../target/file-state.ts';
import type { Place } from './text-places.ts';

/** A replaced place, in positions of the text before the turn. */
interface Change extends Place {
  /** Characters that stand there now. */
  readonly length: number;
}

/** What the `edit`s of one turn have made of one file so far (FS-15). */
export interface EditChain {
  /** The file before the turn. */
  readonly base: FileState;
  /** The file as the last of them published it. */
  readonly current: FileState;
  readonly changes: readonly Change[];
}

/** What an `edit` may find under the lock: what it was prepared on, or exactly what earlier siblings made of that. */
export function expectedState(chain: EditChain | undefined, prepared: FileState): FileState {
  return continues(chain, prepared) ? chain.current : prepared;
}

/** Where the places stand now, or null when a sibling has replaced a part of one. */
export function shiftedPlaces(
  places: readonly Place[],
  chain: EditChain | undefined,
  prepared: FileState,
): readonly Place[] | null {
  if (!continues(chain, prepared)) return places;
  const { changes } = chain;
  const overlaps = places.some(({ start, end }) =>
    changes.some((change) => start < change.end && change.start < end),
  );
  if (overlaps) return null;
  return places.map(({ start, end }) => {
    const before = changes.filter((change) => change.end <= start);
    const shift = before.reduce((sum, change) => sum + change.length - (change.end - change.start), 0);
    return { start: start + shift, end: end + shift };
  });
}

/** The chain after an edit of `places`, given in positions of the text it was prepared on. */
export function continuedChain(
  chain: EditChain | undefined,
  prepared: FileState,
  edit: { readonly places: readonly Place[]; readonly length: number; readonly current: FileState },
): EditChain {
  const earlier = continues(chain, prepared) ? chain.changes : [];
  const changes = edit.places.map((place) => ({ ...place, length: edit.length }));
  return { base: prepared, current: edit.current, changes: [...earlier, ...changes] };
}

function continues(chain: EditChain | undefined, prepared: FileState): chain is EditChain {
  return chain !== undefined && isSameState(chain.base, prepared);
}
