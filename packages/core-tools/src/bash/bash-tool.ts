import { defineTool, toolError } from '@agentd/contract';
import type {
  Clock,
  ExecuteContext,
  PreparedCall,
  PrepareContext,
  Tool,
  ToolCompletion,
} from '@agentd/contract';
import { z } from 'zod';
import { runCommand, type TimedCommand } from './command-run.ts';
import { systemLibrary } from '../system-library.ts';
import { exitReport } from './exit-report.ts';
import { hideOwnEnvironment } from './hidden-environment.ts';
import { findBash } from './shell-lookup.ts';
import { checkFolder, folderIdentity, type FolderIdentity } from './working-directory.ts';

export interface BashPorts {
  /** The environment that commands inherit: the daemon's. */
  readonly environment: NodeJS.ProcessEnv;
  /** Names of variables that hold provider credentials; commands do not see them (BASH-2). */
  readonly withheld: readonly string[];
  readonly clock: Clock;
  /**
   * Whether this process closes itself to its commands before the first of them runs, so that what is withheld cannot be
   * read from its own environment either. That concerns the whole process (see `hideOwnEnvironment`); false by default.
   */
  readonly hidesOwnEnvironment?: boolean;
}

const DEFAULT_TIMEOUT_MS = 120_000;

const DESCRIPTION = [
  "Runs a command with bash -c in the session's working directory and returns its stdout, its stderr and how it ended.",
  'Each call is a shell of its own: cd, variables and functions do not carry over, and calls of one turn run side by side, so join steps that depend on each other with && in one command.',
  'Input is at end-of-file, unless interactive is true. Nothing can answer a prompt, so pass flags such as --yes.',
  'When the command exits, its background processes are ended; one that must live on needs setsid and its output sent to a file.',
  'Long output is shown cut; the hint in the result says how to read the rest with the read tool, so do not run the command again for it.',
].join(' ');

const bashArguments = z.strictObject({
  command: z
    .string()
    .refine((command) => command.trim() !== '', 'expected a command that is not blank')
    .refine(isPassable, 'expected text without NUL characters and lone surrogates')
    .describe('The bash command line to run.'),
  timeout: z
    .int()
    .min(1)
    .default(DEFAULT_TIMEOUT_MS)
    .describe('Milliseconds after which the command and all its processes are stopped: 1 or more.'),
  interactive: z
    .boolean()
    .default(false)
    .describe('Whether a person or program will send input to the command while it runs.'),
});

type BashArguments = z.infer<typeof bashArguments>;

/** The tool `bash`: a command in a process session of its own, its output streamed as it comes (BASH-1 to BASH-9). */
export function createBashTool(ports: BashPorts): Tool {
  return defineTool({
    name: 'bash',
    description: DESCRIPTION,
    schema: bashArguments,
    action: 'bash',
    concurrency: 'parallel',
    output: { kind: 'named', streams: ['stdout', 'stderr'], terminal: true },
    prepare: (args, context) => prepareCommand(args, context, ports),
  });
}

async function prepareCommand(
  args: BashArguments,
  { session }: PrepareContext,
  ports: BashPorts,
): Promise<PreparedCall> {
  // It loads while permission is asked for.
  if (ports.hidesOwnEnvironment === true) void systemLibrary();
  const folder = await folderIdentity(session.cwd);
  const shell = await findBash(ports.environment);
  return {
    permission: { action: 'bash', label: args.command },
    operation: { ...args, shell, cwd: { ...folder } },
    revalidate: () => checkFolder(folder),
    execute: (context, signal) => execute({ args, folder, shell, ports }, context, signal),
  };
}

interface ApprovedCommand {
  readonly args: BashArguments;
  readonly folder: FolderIdentity;
  readonly shell: string;
  readonly ports: BashPorts;
}

async function execute(
  { args, folder, shell, ports }: ApprovedCommand,
  context: ExecuteContext,
  signal: AbortSignal,
): Promise<ToolCompletion> {
  if (signal.aborted) throw toolError('cancelled', 'the call was cancelled before its command started');
  if (ports.hidesOwnEnvironment === true) await hideOwnEnvironment();
  const { command, timeout: timeoutMs, interactive } = args;
  const request: TimedCommand = {
    shell,
    command,
    cwd: folder.path,
    environment: commandEnvironment(ports),
    interactive: interactive && context.stdin !== null,
    timeoutMs,
  };
  const end = await runCommand(request, { context, clock: ports.clock }, signal);
  return exitReport(end, timeoutMs);
}

/** Everything but the credentials of providers (BASH-2). */
function commandEnvironment({ environment, withheld }: BashPorts): NodeJS.ProcessEnv {
  const hidden = new Set(withheld);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !hidden.has(name)));
}

/** What the system can hand to a program unchanged, so that what runs is what was approved. */
function isPassable(command: string): boolean {
  return !command.includes('\0') && command.isWellFormed();
}
