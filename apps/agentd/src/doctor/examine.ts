import { access, constants, stat } from 'node:fs/promises';
import { messageOf } from '@agentd/contract';
import { counted } from '../cli/counted.ts';
import type { PlaceOptions } from '../cli/options.ts';
import { locks, modelAccess } from '../compose.ts';
import type { Settings } from '../config/settings.ts';
import { projectsOf } from '../home/project.ts';
import type { ModelAccess } from '../models/model-access.ts';
import { agentsIn, settingsIn, surroundings, type Surroundings } from '../situation.ts';
import { locksWork } from './locks-work.ts';
import { mcpFindings } from './mcp-findings.ts';
import { findBash } from './find-bash.ts';

/** One thing that was looked at. */
export interface Finding {
  readonly subject: string;
  readonly ok: boolean;
  /** What was found; for a problem also what would mend it. */
  readonly detail: string;
}

/** Looks at everything that a run needs. Contract: asks no model's server; MCP servers are connected to once. */
export async function examine(options: PlaceOptions): Promise<readonly Finding[]> {
  const around = await surroundings(options);
  const { home } = around;
  return [
    await node(),
    await homeFinding(home),
    ...(await settingsFindings(around)),
    await agentsFinding(around),
    await locksFinding(home),
    await bashFinding(),
  ];
}

async function node(): Promise<Finding> {
  return good('node', process.version);
}

async function homeFinding(home: string): Promise<Finding> {
  const info = await stat(home).catch(() => null);
  if (info === null) return good('home', `${home} does not exist yet; the first run makes it`);
  if (!info.isDirectory()) return bad('home', `${home} is not a folder; move it away or set AGENTD_HOME`);
  const writable = await access(home, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!writable) return bad('home', `${home} cannot be written; mend its rights or set AGENTD_HOME`);
  const others = info.mode & 0o077;
  if (others !== 0) return bad('home', `${home} is open to others; run: chmod 700 ${home}`);
  return good('home', `${home}, ${counted((await projectsOf(home)).length, 'project')}`);
}

async function settingsFindings(around: Surroundings): Promise<readonly Finding[]> {
  try {
    const settings = await settingsIn(around);
    const { skipped } = around;
    const notice = skipped === null ? [] : [good('workspace', skipped)];
    return [
      good('settings', 'valid'),
      ...notice,
      ...(await providerFindings(settings)),
      ...(await mcpFindings(around, settings)),
    ];
  } catch (error) {
    return [bad('settings', messageOf(error))];
  }
}

/** Only what was configured, or has its key, is expected to work. */
async function providerFindings(settings: Settings): Promise<readonly Finding[]> {
  const access = modelAccess(settings);
  const configured = access.list().filter(({ source, usable }) => source === 'settings' || usable === null);
  const findings = configured.map(({ provider, adaptor, usable }) =>
    usable === null ? good(`provider ${provider}`, adaptor) : bad(`provider ${provider}`, usable),
  );
  const model = await modelFinding(access, settings.model ?? access.defaultModel());
  const known = findings.find(({ ok, detail }) => !ok && detail === model.detail);
  return [...findings, known === undefined ? model : { ...model, detail: `see ${known.subject}` }];
}

/** Opens the model as a run would: that asks no server. */
async function modelFinding(access: ModelAccess, model: string | undefined): Promise<Finding> {
  if (model === undefined) {
    return bad(
      'model',
      'none: set a key variable such as ANTHROPIC_API_KEY, or model = "PROVIDER/MODEL" in config.toml',
    );
  }
  return access.open(model).then(
    () => good('model', model),
    (error: unknown) => bad('model', messageOf(error)),
  );
}

async function agentsFinding(around: Surroundings): Promise<Finding> {
  try {
    return good('agents', (await agentsIn(around)).ids().join(', '));
  } catch (error) {
    return bad('agents', messageOf(error));
  }
}

async function locksFinding(home: string): Promise<Finding> {
  const fault = await locksWork(home, locks);
  return fault === null ? good('locks', 'the operating system keeps them') : bad('locks', fault);
}

async function bashFinding(): Promise<Finding> {
  const path = await findBash(process.env['PATH'] ?? '');
  return path === null ? bad('bash', 'not found in PATH; install it, or mend PATH') : good('bash', path);
}

function good(subject: string, detail: string): Finding {
  return { subject, ok: true, detail };
}

function bad(subject: string, detail: string): Finding {
  return { subject, ok: false, detail };
}
