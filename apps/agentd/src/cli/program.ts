import { Command } from 'commander';
import { VERSION } from '../version.ts';
import { exampleText, type CommandHost } from './command-host.ts';
import { defineLookCommands } from './define-look-commands.ts';
import { defineRunCommands } from './define-run-commands.ts';
import { oneLine } from './one-line.ts';
import type { Screen } from './screen.ts';

/** The whole command line. Each command's work is loaded when it is called. */
export function createProgram(screen: Screen, onExitCode: (code: number) => void): Command {
  const program = new Command('agentd')
    .description('An engine for coding agents.')
    .version(VERSION, '-V, --version', 'print the version')
    .option('--no-color', 'no colours')
    .addHelpText('after', exampleText('agentd run "What does this project do?"'));
  configure(program, screen);
  const host: CommandHost = {
    screen,
    finish: async (work) => onExitCode(await work),
  };
  defineRunCommands(program, host);
  defineLookCommands(program, host);
  for (const command of allOf(program)) configure(command, screen);
  return program;
}

function configure(command: Command, screen: Screen): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: screen.print,
    outputError: (message) =>
      screen.tell(`agentd: ${oneLine(message.replace(/^error: /, ''))}${hintFor(message, command)}`),
  });
  command.helpCommand(false);
  if (command.parent === null) return;
  command.option('--no-color', 'no colours');
  const [first] = command.commands;
  if (first !== undefined)
    command.addHelpText('after', exampleText(`agentd ${command.name()} ${first.name()} --help`));
}

/** Where no command is near, all of them are worth a look. */
function hintFor(message: string, command: Command): string {
  if (!/^error: unknown command '[^']*'\s*$/.test(message)) return '';
  const group = command.parent === null ? '' : `${command.name()} `;
  return `; "agentd ${group}--help" shows what there is`;
}

function allOf(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => [child, ...allOf(child)]);
}
