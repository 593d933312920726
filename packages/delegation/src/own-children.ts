import { isUuid, toolError, unknownSubagent, type SessionFacts, type SessionId } from '@agentd/contract';
import { childStatus, type ChildStatus } from './child-status.ts';
import type { DelegationLedger } from './ledger.ts';
import type { DelegationPorts } from './ports.ts';

/** A child of the session that asks. */
export interface OwnChild {
  readonly facts: SessionFacts;
  readonly status: ChildStatus;
}

/** What is stored of the session that calls. */
export async function callerOf(host: DelegationPorts['host'], sessionId: SessionId): Promise<SessionFacts> {
  const facts = await host.find(sessionId);
  if (facts === null) throw toolError('execution_failed', 'your own session is not known to delegation');
  return facts;
}

/** The children of a session, in order of creation, ended ones included (DLG-4). */
export async function ownChildren(
  host: DelegationPorts['host'],
  { sessionId, rootId }: SessionFacts,
): Promise<readonly OwnChild[]> {
  const tree = await host.tree(rootId);
  const children = tree.filter(({ parentId }) => parentId === sessionId);
  if (children.length === 0) return [];
  return host.use(sessionId, async ({ ledger }) => children.map((facts) => ownChild(facts, ledger)));
}

/**
 * Which child a reference means: a canonical lowercase UUID is a session, anything else a handle, compared exactly.
 * Throws `unknown_subagent`, which lists the caller's children, for everything else (DLG-4).
 */
export async function resolveChild(
  host: DelegationPorts['host'],
  caller: SessionFacts,
  reference: string,
): Promise<OwnChild> {
  const children = await ownChildren(host, caller);
  const meant = children.find(({ facts }) =>
    isUuid(reference) ? facts.sessionId === reference : facts.handle === reference,
  );
  if (meant !== undefined) return meant;
  throw unknownSubagent(
    reference,
    children.map(({ facts, status }) => ({ ...facts, status })),
  );
}

function ownChild(facts: SessionFacts, ledger: DelegationLedger): OwnChild {
  return { facts, status: childStatus(facts.status, ledger.newestOf(facts.sessionId)) };
}
