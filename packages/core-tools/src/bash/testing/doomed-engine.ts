// A process that runs one command, the first argument, prints what it prints, and is meant to be killed meanwhile. At
// SIGUSR2 it runs the second argument beside it.
import { systemClock } from '@agentd/contract';
import { createBashTool } from '../bash-tool.ts';

const [, , first = '', second = ''] = process.argv;
const tool = createBashTool({ environment: process.env, withheld: [], clock: systemClock });
const signal = new AbortController().signal;
const session = { id: 's1', cwd: '/', agent: 'default' };

async function run(command: string): Promise<void> {
  const call = await tool.prepare({ command }, { callId: 'c1', session, turn: {}, model: null }, signal);
  const report = async ({
    chunks = [],
  }: {
    chunks?: readonly { readonly text: string }[];
  }): Promise<void> => {
    for (const { text } of chunks) process.stdout.write(text);
  };
  await call.execute({ callId: 'c1', report, stdin: null }, signal);
}

process.on('SIGUSR2', () => void run(second));
await run(first);
process.exit();
