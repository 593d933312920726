import { Option, type Command } from 'commander';
import { withActing, withJson, withModel, withSession } from './options.ts';
import { port, seconds, toolNames, wholeNumber } from './option-values.ts';
import { exampleText, type CommandHost } from './command-host.ts';

/** Commands that make an agent or a tool work. */
export function defineRunCommands(program: Command, host: CommandHost): void {
  defineRun(program, host);
  defineTools(program, host);
  defineMcp(program, host);
  program
    .command('demo')
    .description('a guided session on an embedded model: no key, no network')
    .addHelpText('after', exampleText('agentd demo'))
    .action(async () => host.finish(import('./commands/demo.ts').then(({ demo }) => demo(host.screen))));
}

function defineRun(program: Command, { screen, finish }: CommandHost): void {
  withModel(withSession(program.command('run')))
    .description('one run without a user: works until the prompt is done')
    .argument('[PROMPT]', 'what to do; "-" reads it from stdin')
    .option('-f, --file <FILE>', 'read the prompt from a file')
    .addOption(
      new Option('--output <FORMAT>', 'text: the final answer; json: every event; none')
        .choices(['text', 'json', 'none'])
        .default('text'),
    )
    .option('--max-turns <N>', 'model turns at most', wholeNumber(1), 100)
    .addOption(
      new Option('--timeout <SECONDS>', 'how long it may take').argParser(seconds).default(600_000, '600'),
    )
    .option('--fail-on-denial', 'exit 3 when something was denied')
    .addHelpText(
      'after',
      exampleText(
        'agentd run "Fix the failing test" --mode yolo',
        'git diff | agentd run --output json -m anthropic/claude-sonnet-5-5 -',
      ),
    )
    .action(async (prompt: string | undefined, options) =>
      finish(import('./commands/run.ts').then(({ run }) => run(prompt, options, screen))),
    );
}

function defineTools(program: Command, { screen, finish }: CommandHost): void {
  const tools = program.command('tools').description('what a model may call');
  withJson(withActing(tools.command('list')))
    .description('the tool definitions as they are sent to a model')
    .addHelpText('after', exampleText('agentd tools list --json'))
    .action(async (options) =>
      finish(import('./commands/tools-list.ts').then(({ listTools }) => listTools(options, screen))),
    );
  withJson(withSession(tools.command('call')))
    .description('one call through the real pipeline, logged as a run of its own')
    .argument('<NAME>', 'the tool')
    .argument('<JSON>', 'its arguments')
    .addHelpText('after', exampleText(`agentd tools call read '{"filePath":"README.md"}'`))
    .action(async (name: string, args: string, options) =>
      finish(
        import('./commands/tools-call.ts').then(({ callTool }) => callTool({ name, args }, options, screen)),
      ),
    );
}

function defineMcp(program: Command, { screen, finish }: CommandHost): void {
  withActing(program.command('mcp'))
    .description("agentd's own tools as an MCP server, without a model: on stdio, or on loopback")
    .option('--tools <NAMES>', 'which of read,write,edit,bash,webfetch (default: all)', toolNames)
    .option('--http [PORT]', 'Streamable HTTP on 127.0.0.1 (7421; 0 picks a port)', port)
    .addHelpText(
      'after',
      exampleText(
        'agentd mcp --cwd ~/project --tools read,bash --deny "bash:git push*"',
        'agentd mcp --http 0',
      ),
    )
    .addHelpText(
      'after',
      '\nWithout --mode, what asks is approved in the working directory, and denied for paths outside of it.\nA command is not held back by that: it can reach what you can reach.',
    )
    .action(async (options) =>
      finish(import('./commands/mcp.ts').then(({ serveMcp }) => serveMcp(options, screen))),
    );
}
