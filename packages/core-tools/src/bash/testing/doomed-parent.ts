// A process that starts the program of its arguments, guards it, says `ready`, and is meant to be killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { guardProcess } from '../guard-process.ts';

const [, , program = '', ...args] = process.argv;
const child = spawn(program, args, { detached: true, stdio: 'ignore' });
await once(child, 'spawn');
await guardProcess(Number(child.pid));
process.stdout.write('ready\n');
