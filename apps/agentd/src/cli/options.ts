import { Option, type Command } from 'commander';
import { MODES, collected, modelName, wholeNumber, type Mode } from './option-values.ts';

/** Which home, settings and workspace a command looks at. */
export interface PlaceOptions {
  readonly home?: string;
  readonly config?: string;
  readonly cwd?: string;
  readonly trust?: boolean;
}

export interface DataOptions {
  readonly json?: boolean;
}

/** What a run or a call may do, and as whom. */
export interface ActingOptions extends PlaceOptions {
  readonly agent?: string;
  readonly mode?: Mode;
  /** `ACTION[:PATTERN]` */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export interface SessionOptions extends ActingOptions {
  readonly session?: string;
}

export function withHome(command: Command): Command {
  return command.option('--home <DIR>', 'where agentd keeps its files (AGENTD_HOME goes before it)');
}

export function withPlace(command: Command): Command {
  return withHome(command)
    .option('--cwd <DIR>', 'the working directory (default: the current one)')
    .option('--config <FILE>', 'use this instead of config.toml in the home')
    .option('--trust', 'let what the workspace brings in .agentd count for this run');
}

export function withActing(command: Command): Command {
  return withPlace(command)
    .option('-a, --agent <ID>', 'the agent document to use')
    .addOption(new Option('--mode <MODE>', 'what happens to questions (default: ask)').choices(MODES))
    .option('--allow <RULE>', 'ACTION[:PATTERN] to allow in this session; repeatable', collected)
    .option('--deny <RULE>', 'ACTION[:PATTERN] to deny in this session; repeatable', collected);
}

export function withSession(command: Command): Command {
  return withActing(command).option('--session <ID>', 'continue this session');
}

export function withModel(command: Command): Command {
  return command.option('-m, --model <PROVIDER/MODEL>', 'the model, or scripted:FILE.yaml', modelName);
}

export function withJson(command: Command): Command {
  return command.option('--json', 'print JSON');
}

export function withPage(command: Command): Command {
  return command
    .option('--offset <N>', 'the first line, counted from 0', wholeNumber(0))
    .option('--limit <N>', 'how many lines', wholeNumber(1));
}
