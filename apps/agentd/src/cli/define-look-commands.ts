import type { Command } from 'commander';
import { withHome, withJson, withPage, withPlace } from './options.ts';
import { exampleText, type CommandHost } from './command-host.ts';

/** Commands that show what is there, and a few that put it in order. */
export function defineLookCommands(program: Command, host: CommandHost): void {
  defineSessions(program, host);
  defineArtifacts(program, host);
  defineAgents(program, host);
  defineModels(program, host);
  defineMcpServers(program, host);
  defineTrust(program, host);
  withJson(withPlace(program.command('doctor')))
    .description('checks home, settings, locks, providers, MCP servers and bash, and says what to mend')
    .addHelpText('after', exampleText('agentd doctor'))
    .action(async (options) =>
      host.finish(import('./commands/doctor.ts').then(({ doctor }) => doctor(options, host.screen))),
    );
}

function defineSessions(program: Command, { screen, finish }: CommandHost): void {
  const sessions = program.command('sessions').description('look at sessions');
  withJson(withHome(sessions.command('list')))
    .description('all sessions, the newest first')
    .option('--cwd <DIR>', 'only those of this working directory')
    .addHelpText('after', exampleText('agentd sessions list --cwd .'))
    .action(async (options) =>
      finish(import('./commands/sessions-list.ts').then(({ listSessions }) => listSessions(options, screen))),
    );
  withJson(withHome(sessions.command('show')))
    .description('what one session is, its runs and its usage')
    .argument('<ID>', 'the session id, or a beginning that no other has')
    .addHelpText('after', exampleText('agentd sessions show 0b6f3c1e-5d0a-4c55-9a58-3f6d1f0c2a11'))
    .action(async (id: string, options) =>
      finish(
        import('./commands/sessions-show.ts').then(({ showSession }) => showSession(id, options, screen)),
      ),
    );
  withJson(withHome(sessions.command('tree')))
    .description('the sessions of a tree: the root, its subagents, and how each of them stands')
    .argument('<ID>', 'any session of the tree, or a beginning of its id that no other has')
    .addHelpText('after', exampleText('agentd sessions tree 0b6f3c1e-5d0a-4c55-9a58-3f6d1f0c2a11'))
    .action(async (id: string, options) =>
      finish(import('./commands/sessions-tree.ts').then(({ showTree }) => showTree(id, options, screen))),
    );
  withHome(sessions.command('events'))
    .description('the events of one session as JSON Lines')
    .argument('<ID>', 'the session id, or a beginning that no other has')
    .option('--json', 'accepted for symmetry: the output is always JSON Lines')
    .option('--follow', 'go on with new events until interrupted')
    .addHelpText('after', exampleText('agentd sessions events 0b6f3c1e-5d0a-4c55-9a58-3f6d1f0c2a11 --follow'))
    .action(async (id: string, options) =>
      finish(
        import('./commands/sessions-events.ts').then(({ printEvents }) => printEvents(id, options, screen)),
      ),
    );
}

function defineArtifacts(program: Command, { screen, finish }: CommandHost): void {
  const artifacts = program.command('artifacts').description('look at stored output, and clear it up');
  withJson(withPage(withHome(artifacts.command('show'))))
    .description('a page of stored output')
    .argument('<URI>', 'artifact://<digest> or artifact://<digest>/<stream>')
    .option('--cwd <DIR>', 'look in the project of this working directory alone')
    .addHelpText('after', exampleText('agentd artifacts show artifact://<digest>/stdout --offset 2000'))
    .action(async (uri: string, options) =>
      finish(
        import('./commands/artifacts-show.ts').then(({ showArtifact }) => showArtifact(uri, options, screen)),
      ),
    );
  withJson(withHome(artifacts.command('gc')))
    .description('removes stored output that no session refers to, and says what it kept and why')
    .option('--cwd <DIR>', 'only in the project of this working directory')
    .option('--dry-run', 'remove nothing, and say what would be removed')
    .option('--list', 'also name each artifact')
    .addHelpText('after', exampleText('agentd artifacts gc --dry-run --list'))
    .action(async (options) =>
      finish(
        import('./commands/artifacts-gc.ts').then(({ collectGarbage }) => collectGarbage(options, screen)),
      ),
    );
}

function defineAgents(program: Command, { screen, finish }: CommandHost): void {
  const agents = program.command('agents').description('agent documents');
  withJson(withPlace(agents.command('list')))
    .description('the agents in force here')
    .addHelpText('after', exampleText('agentd agents list'))
    .action(async (options) =>
      finish(import('./commands/agents-list.ts').then(({ listAgents }) => listAgents(options, screen))),
    );
  withJson(withPlace(agents.command('show')))
    .description('an agent document; "default" is built in')
    .argument('<ID>', 'the agent')
    .addHelpText('after', exampleText('agentd agents show default > ~/.agentd/agents/default.md'))
    .action(async (id: string, options) =>
      finish(import('./commands/agents-show.ts').then(({ showAgent }) => showAgent(id, options, screen))),
    );
}

function defineModels(program: Command, { screen, finish }: CommandHost): void {
  const models = program.command('models').description('models and providers');
  withJson(withPlace(models.command('list')))
    .description('providers and models that runs can name, what each takes, and where that is known from')
    .addHelpText('after', exampleText('agentd models list'))
    .action(async (options) =>
      finish(import('./commands/models-list.ts').then(({ listModels }) => listModels(options, screen))),
    );
  withJson(withPlace(models.command('refresh')))
    .description('renews what is known of models from the public catalogue')
    .option('--from <URL|FILE>', 'a mirror, or a copy of it (default: [catalogue] url in the settings)')
    .addHelpText('after', exampleText('agentd models refresh', 'agentd models refresh --from api.json'))
    .action(async (options) =>
      finish(
        import('./commands/models-refresh.ts').then(({ refreshModels }) => refreshModels(options, screen)),
      ),
    );
}

function defineMcpServers(program: Command, { screen, finish }: CommandHost): void {
  const servers = program.command('mcp-servers').description('servers of the Model Context Protocol');
  withJson(withPlace(servers.command('list')))
    .description('the configured servers; connects to each of them once')
    .addHelpText('after', exampleText('agentd mcp-servers list'))
    .action(async (options) =>
      finish(
        import('./commands/mcp-servers-list.ts').then(({ listMcpServers }) =>
          listMcpServers(options, screen),
        ),
      ),
    );
  withPlace(servers.command('auth'))
    .description('authorizes agentd with a remote server, and keeps the tokens in the home')
    .argument('<NAME>', 'the server')
    .addHelpText('after', exampleText('agentd mcp-servers auth tickets'))
    .action(async (name: string, options) =>
      finish(
        import('./commands/mcp-servers-auth.ts').then(({ authorizeMcpServer }) =>
          authorizeMcpServer(name, options, screen),
        ),
      ),
    );
}

function defineTrust(program: Command, { screen, finish }: CommandHost): void {
  withJson(withHome(program.command('trust')))
    .description('lets what a workspace brings count from now on, as long as it stays as it is')
    .argument('[DIR]', 'the workspace (default: the current directory)')
    .option('--revoke', 'take the trust back')
    .addHelpText('after', exampleText('agentd trust .', 'agentd trust --revoke .'))
    .action(async (folder: string | undefined, options) =>
      finish(import('./commands/trust.ts').then(({ trust }) => trust(folder, options, screen))),
    );
}
