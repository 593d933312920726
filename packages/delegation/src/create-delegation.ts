import type {
  OpenProjection,
  PrepareContext,
  SessionId,
  Tool,
  ToolProvider,
  TreeKeeper,
} from '@agentd/contract';
import { Admission } from './admission.ts';
import { createCancelTool } from './cancel-tool.ts';
import { Crew } from './crew.ts';
import { createDelegateTool, type Delegating } from './delegate-tool.ts';
import { DelegationLedger } from './ledger.ts';
import { ownChildren } from './own-children.ts';
import type { DelegationPorts } from './ports.ts';
import { Recovery } from './recovery.ts';
import { createResultTool } from './result-tool.ts';
import { DEFAULT_DELEGATION_SETTINGS, type DelegationSettings } from './settings.ts';
import { eligibleTargets, targetSection } from './targets.ts';

/** The three tools of DLG-1, and what an engine calls beside them. */
export interface Delegation extends ToolProvider, TreeKeeper {
  readonly promptSection: (session: PrepareContext['session']) => Promise<string | null>;
  /** For the host: opens what delegation keeps of a session, whenever its log is opened. */
  readonly openLedger: OpenProjection<DelegationLedger>;
  /** Whether no background child of any session of this tree is queued, at work or on its way to its parent (GOAL-8). */
  readonly quiet: (rootId: SessionId) => boolean;
}

/**
 * Delegation over a host of sessions (DLG-1 to DLG-14). The host opens its ledgers with `openLedger` and calls
 * `treeOpened` before the sessions of a tree go on.
 */
export function createDelegation(
  ports: DelegationPorts,
  settings: DelegationSettings = DEFAULT_DELEGATION_SETTINGS,
): Delegation {
  const crew = new Crew(ports, settings);
  const admission = new Admission(ports, settings, crew);
  const recovery = new Recovery(ports, crew, admission);
  const delegating: Delegating = { ports, settings, crew, admission };
  const others = [createResultTool(ports), createCancelTool(delegating)];
  return {
    id: 'builtin.delegate',
    tools: (session) => toolsFor(session, delegating, others),
    promptSection: async (session) => targetSection(await eligibleTargets(ports, settings, session)),
    openLedger: (init) => new DelegationLedger(init, (ledger, runId) => crew.cancelRun(ledger, runId)),
    treeOpened: (rootId) => recovery.tree(rootId),
    settled: (rootId) => crew.settled(rootId),
    awaitsPrompt: (sessionId) => crew.isAtWorkOn(sessionId),
    quiet: (rootId) => !crew.of(rootId).some(({ background }) => background),
  };
}

/** Who can start nobody any more may still look at the children that there are, and end them. */
async function toolsFor(
  session: PrepareContext['session'],
  delegating: Delegating,
  others: readonly Tool[],
): Promise<readonly Tool[]> {
  const { ports, settings } = delegating;
  const targets = await eligibleTargets(ports, settings, session);
  if (targets.length > 0) return [createDelegateTool(delegating, targets), ...others];
  const caller = await ports.host.find(session.id);
  const children = caller === null ? [] : await ownChildren(ports.host, caller);
  return children.length > 0 ? others : [];
}
