// A process of its own for tests: it runs one call, or dies in the middle of a publication.
import { json } from 'node:stream/consumers';
import { codeOf, randomIds } from '@agentd/contract';
import { createEditTool } from '../mutate/edit-tool.ts';
import { kernelMoves } from '../mutate/kernel-moves.ts';
import { namedTarget } from '../mutate/mutation-target.ts';
import { createFile, replaceFile } from '../mutate/publication.ts';
import { fileStageJournal } from '../mutate/stage-journal.ts';
import type { PublicationStep } from '../mutate/stage.ts';
import { createWriteTool } from '../mutate/write-tool.ts';
import { stateOf } from '../target/file-state.ts';
import { TurnFiles } from '../turn-files.ts';
import { callTool, contextIn, textOf } from './calls.ts';
import { nativeFileLocks } from './native-file-locks.ts';

export interface ChildTask {
  readonly cwd: string;
  readonly args: { readonly filePath: string } & Readonly<Record<string, unknown>>;
  readonly journal: string;
  /**
   * `publish` kills the process at a step; `write` and `edit` are called over and over with `forever`; `mark` puts as
   * many marks as `count` says into a file, each with an `edit` that is repeated until it is not stale.
   */
  readonly kind: 'publish' | 'write' | 'edit' | 'mark';
  readonly step?: PublicationStep;
  /** `plain` publishes as where the kernel has no moves of its own. */
  readonly moves?: 'kernel' | 'plain';
  readonly forever?: boolean;
  readonly count?: number;
}

const task = (await json(process.stdin)) as ChildTask;
const { cwd, args, journal, kind, step } = task;
const stages = fileStageJournal({ folder: journal, locks: nativeFileLocks, ids: randomIds });

async function publishAndDie(): Promise<void> {
  const atStep = (reached: PublicationStep): void => {
    if (reached === step) process.kill(process.pid, 'SIGKILL');
  };
  const signal = new AbortController().signal;
  const { session } = contextIn(cwd);
  const { target } = await namedTarget(args.filePath, { home: cwd, session, names: 'exact' });
  const content = Buffer.from(String(args['content']));
  const moves = task.moves === 'plain' ? Promise.resolve(null) : kernelMoves();
  const ports = { stages, atStep, moves, turnFiles: new TurnFiles() };
  if (target.state === 'absent') await createFile({ target, content }, ports, signal);
  else {
    const expected = await stateOf(target.path, target.identity, signal);
    await replaceFile({ path: target.path, expected, content }, ports, signal);
  }
}

async function callOnce(): Promise<string> {
  const tool = (kind === 'edit' ? createEditTool : createWriteTool)({ stages, home: cwd });
  try {
    return JSON.stringify({ text: textOf(await callTool(tool, args, contextIn(cwd))) });
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return JSON.stringify({ code, message });
  }
}

async function putMarks(count: number): Promise<void> {
  const tool = createEditTool({ stages, home: cwd });
  for (let made = 0; made < count;) {
    const edit = { ...args, oldString: 'END', newString: `${process.pid}-${made} END` };
    try {
      await callTool(tool, edit, contextIn(cwd));
      made++;
    } catch (error) {
      if (codeOf(error) !== 'stale') throw error;
    }
  }
}

if (kind === 'publish') await publishAndDie();
else if (kind === 'mark') await putMarks(task.count ?? 0);
else {
  do process.stdout.write(`${await callOnce()}\n`);
  while (task.forever === true);
}
