import { systemClock } from '@agentd/contract';
import type { SessionListener } from '@agentd/engine';
import { SERVED_TOOLS } from '../cli/option-values.ts';
import type { ActingOptions } from '../cli/options.ts';
import { compose, offeredTools, openArtifacts } from '../compose.ts';
import { prepareHome } from '../home/home.ts';
import { scheduleJanitor } from '../session/janitor-schedule.ts';
import { overlayOf } from '../session/overlay.ts';
import { situate } from '../situation.ts';
import { approveWithin } from './approve-within.ts';
import { instructionsFor, type ServedParts } from './mcp-server.ts';
import { servedCalls } from './served-calls.ts';
import { servedProviders } from './served-tools.ts';
import { SessionPool } from './session-pool.ts';

export interface ServedOptions extends ActingOptions {
  readonly tools?: readonly string[];
}

/** What a door hands to each of its clients, ready to use. */
export interface Served {
  readonly parts: ServedParts;
  /** Cancels what runs, and leaves everything as it should be found. */
  readonly end: () => Promise<void>;
}

/** So many commands at once are work enough for a machine. */
const MAX_TOGETHER = 32;
const MAX_WAITING = 1000;
const MAX_CALLS = 500;

/**
 * Finds home, workspace, settings and agent, and prepares the home. A session is made when the first call comes.
 * Contract: throws one clear line.
 */
export async function openServed(options: ServedOptions, maxFileBytes: number): Promise<Served> {
  const { tools: names = SERVED_TOOLS, mode } = options;
  const overlay = overlayOf(options);
  const situation = await situate(options);
  const { workspace, project, home, skipped } = situation;
  const agent = situation.agents.choose(options.agent);
  const app = compose(situation, {
    offer: (providers) => servedProviders(providers, names),
    ...(mode === undefined ? { approver: approveWithin } : {}),
  });
  const offered = await offeredTools(situation, agent, overlay);
  await prepareHome(home);
  await app.tidy();
  const init = { cwd: workspace, agent: agent.id, title: 'agentd mcp', mode: mode ?? 'ask', overlay };
  const open = (listener: SessionListener) => app.engine.createSession({ ...init, listener });
  const limits = { maxTogether: MAX_TOGETHER, maxWaiting: MAX_WAITING, maxCalls: MAX_CALLS };
  const pool = new SessionPool({ open, ...limits });
  const call = servedCalls({
    pool,
    agent: agent.id,
    workspace,
    blobs: openArtifacts(project),
    maxFileBytes,
  });
  const janitor = scheduleJanitor(app.collect, systemClock);
  const definitions = offered.filter(({ name }) => names.includes(name));
  return {
    parts: { definitions, call, instructions: instructionsFor(workspace), notice: skipped },
    end: async () => {
      await janitor[Symbol.asyncDispose]();
      await app.collect();
      // A log that can no longer be written has told so in the result of its call.
      await app.engine.stop().catch(() => undefined);
    },
  };
}
