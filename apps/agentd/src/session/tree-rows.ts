import { messageOf, type EventEnvelope, type SessionId } from '@agentd/contract';
import { clientRunIdOf, DelegationLedger, type DelegationEnd } from '@agentd/delegation';
import { SessionState, type SessionStore } from '@agentd/engine';
import { statusNow } from './owner.ts';

/** One session of a tree as `sessions tree` tells it. */
export interface TreeRow {
  readonly session_id: SessionId;
  readonly handle: string | null;
  /** Null for the root. */
  readonly parent_id: SessionId | null;
  readonly depth: number;
  readonly agent: string | null;
  readonly title: string | null;
  readonly status: string;
  readonly created_at: string | null;
  readonly updated_at: string | null;
  readonly last_seq: number;
  /** Why it cannot be opened; null for a sound one. */
  readonly damaged: string | null;
}

export interface TreeSource {
  readonly sessions: Pick<SessionStore, 'read' | 'children'>;
  readonly rootId: SessionId;
  /** Where a session's `events.jsonl` is. */
  readonly logOf: (sessionId: SessionId) => string;
}

interface ReadSession {
  readonly id: SessionId;
  readonly events: readonly EventEnvelope[];
  readonly state: SessionState;
}

/** A tree read without its lock (SES-4): the root first, each session before its own children, those in order of creation. */
export async function treeRows(source: TreeSource): Promise<readonly TreeRow[]> {
  const { sessions, rootId } = source;
  const ids = [rootId, ...(await sessions.children(rootId))];
  const read = await Promise.all(ids.map((id) => readOne(id, source)));
  const sound = read.filter((one) => 'state' in one);
  const ledgers = new Map(
    sound.map(({ id, events }) => [id, new DelegationLedger({ sessionId: id, events })]),
  );
  const rows = await Promise.all(
    read.map(async (one) => {
      if (!('state' in one)) return one;
      const ledger = ledgers.get(one.state.header.origin?.parent_id ?? '');
      return rowOf(one, askedOf(one, ledger), source.logOf(one.id));
    }),
  );
  return below(null, rows.toSorted(byCreation));
}

async function readOne(id: SessionId, { sessions, rootId }: TreeSource): Promise<ReadSession | TreeRow> {
  try {
    const { events } = await sessions.read(id);
    return { id, events, state: SessionState.of(events) };
  } catch (error) {
    // What is wrong with one session keeps nobody from looking at the others (SES-3).
    return damagedRow(id, { rootId, problem: messageOf(error) });
  }
}

function damagedRow(
  id: SessionId,
  { rootId, problem }: { readonly rootId: SessionId; readonly problem: string },
): TreeRow {
  return {
    session_id: id,
    handle: null,
    parent_id: id === rootId ? null : rootId,
    depth: id === rootId ? 0 : 1,
    agent: null,
    title: null,
    status: 'damaged',
    created_at: null,
    updated_at: null,
    last_seq: 0,
    damaged: problem,
  };
}

/** What the parent asked of a child last, before the child's own log says anything of it. */
type Asked = 'nothing' | 'queued' | 'running' | DelegationEnd['status'];

/** Its own run says more than its parent's log, which may not have learnt of the end yet. */
function askedOf({ id, state }: ReadSession, ledger: DelegationLedger | undefined): Asked {
  const newest = ledger?.newestOf(id) ?? null;
  if (ledger === undefined || newest === null) return 'nothing';
  if (state.runByClientId(clientRunIdOf(newest)) !== undefined) return 'nothing';
  const end = newest.end?.status ?? (ledger.wasCancelled(newest.parentRunId) ? 'cancelled' : null);
  if (end !== null) return state.lastRun === null ? end : 'nothing';
  return newest.phase === 'started' ? 'running' : 'queued';
}

async function rowOf({ id, events, state }: ReadSession, asked: Asked, log: string): Promise<TreeRow> {
  const { handle, agent, origin } = state.header;
  return {
    session_id: id,
    handle,
    parent_id: origin?.parent_id ?? null,
    depth: origin?.depth ?? 0,
    agent,
    title: state.title,
    status: await statusOf(state, asked, log),
    created_at: events[0]?.timestamp ?? null,
    updated_at: events.at(-1)?.timestamp ?? null,
    last_seq: state.lastSeq,
    damaged: null,
  };
}

/** Its own newest run counts, whoever started it (DLG-7); before it, what its parent asked of it last. */
async function statusOf(state: SessionState, asked: Asked, log: string): Promise<string> {
  const own = state.lastRun?.status ?? 'idle';
  if (own === 'running' || asked === 'nothing') return statusNow(own, log);
  return asked === 'queued' ? asked : statusNow(asked, log);
}

function byCreation(one: TreeRow, other: TreeRow): number {
  return (one.created_at ?? '~') < (other.created_at ?? '~') ? -1 : 1;
}

function below(parentId: SessionId | null, rows: readonly TreeRow[]): readonly TreeRow[] {
  return rows
    .filter((row) => row.parent_id === parentId)
    .flatMap((row) => [row, ...below(row.session_id, rows)]);
}
