// `npm run -s agentd -- ARGS` in a checkout: builds what is stale, then runs the real entry point.
// Plain JavaScript for the Node that the machine has; the workspace's own Node runs the rest.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const inRoot = (path) => `${root}${path}`;

/** Runs a step of the set-up; what it prints goes to stderr, because stdout belongs to the command. */
function setUp(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(5);
}

if (!existsSync(inRoot('node_modules/.bin/tsc'))) setUp('npx', ['--yes', 'pnpm@12.4.2', 'install']);
setUp(inRoot('node_modules/.bin/tsc'), ['-b']);

const ownNode = inRoot('node_modules/.bin/node');
const node = existsSync(ownNode) ? ownNode : process.execPath;
// npm changes into the checkout; the user's folder is where the command was typed.
const cwd = process.env.INIT_CWD ?? process.cwd();
const child = spawn(node, [inRoot('apps/agentd/dist/main.js'), ...process.argv.slice(2)], {
  cwd,
  stdio: 'inherit',
});

// A terminal signals the whole group; what is sent to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
