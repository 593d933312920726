import type { AgentDocument, PermissionRule, Session, SessionListener } from '@agentd/engine';
import { SessionState } from '@agentd/engine';
import type { SessionOptions } from '../cli/options.ts';
import { compose, openSessions, type App, type ComposeChoices } from '../compose.ts';
import { usageError } from '../faults.ts';
import { homeFolder, prepareHome, realWorkspace } from '../home/home.ts';
import { situate, type Situation } from '../situation.ts';
import { findSession } from './find-session.ts';
import { overlayOf } from './overlay.ts';

/** Everything that a run or a call by hand needs, checked and still without any effect. */
export interface ActingPlan {
  readonly situation: Situation;
  readonly overlay: readonly PermissionRule[];
  readonly agent: AgentDocument;
  readonly app: App;
  /** The session that is to be continued; null for a new one. */
  readonly sessionId: string | null;
}

/** Finds home, workspace, settings and agent. Contract: writes nothing; throws one clear line. */
export async function planActing(options: SessionOptions, choices: ComposeChoices = {}): Promise<ActingPlan> {
  const overlay = overlayOf(options);
  const known = options.session === undefined ? null : await knownSession(options.session, options);
  const found = await situate(known === null ? options : { ...options, cwd: known.cwd });
  const situation = known === null ? found : { ...found, project: known.project };
  const agent = situation.agents.choose(options.agent ?? known?.agent);
  return { situation, overlay, agent, app: compose(situation, choices), sessionId: known?.sessionId ?? null };
}

/** The session's own directory and agent stand; another directory is a mistake. */
async function knownSession(asked: string, options: SessionOptions) {
  const { project, sessionId } = await findSession(homeFolder(options.home, process.env), asked);
  const { events } = await openSessions(project).read(sessionId);
  const { cwd, agent } = SessionState.of(events).header;
  if (options.cwd !== undefined && (await realWorkspace(options.cwd)) !== cwd) {
    throw usageError(`session ${sessionId} works in ${cwd}; --cwd ${options.cwd} is another directory`);
  }
  return { sessionId, project, cwd, agent };
}

/** Opens the session that is to be continued, or makes a new one. From here on things are written. */
export async function openActing(
  plan: ActingPlan,
  options: SessionOptions & { readonly title: string },
  listener: SessionListener,
): Promise<Session> {
  await prepareHome(plan.situation.home);
  const session = await openedSession(plan, options, listener);
  // Only now: what a killed process left of this session's calls was for the recovery to take (SES-6).
  await plan.app.tidy();
  return session;
}

async function openedSession(
  { situation, overlay, agent, app, sessionId }: ActingPlan,
  options: SessionOptions & { readonly title: string },
  listener: SessionListener,
): Promise<Session> {
  const mode = options.mode ?? 'ask';
  if (sessionId === null) {
    return app.engine.createSession({
      cwd: situation.workspace,
      agent: agent.id,
      title: options.title,
      mode,
      overlay,
      listener,
    });
  }
  const session = await app.engine.openSession(sessionId, listener);
  // What was typed is what holds: an earlier run's mode and rules do not reach into this one.
  if (session.mode !== mode) await session.setMode(mode);
  if (JSON.stringify(session.overlay) !== JSON.stringify(overlay)) await session.setOverlay(overlay);
  return session;
}
