import { randomIds, systemClock } from '@agentd/contract';
import type { EngineEvent, RunEnd, Session, SessionListener } from '@agentd/engine';
import { compose } from '../../compose.ts';
import { CallWatch, type WatchedCall } from '../../demo/call-watch.ts';
import { disappointments, storedBytes } from '../../demo/demo-checks.ts';
import { FLOOD } from '../../demo/demo-script.ts';
import { setStage, type DemoStage } from '../../demo/demo-stage.ts';
import { Narrator } from '../../demo/narrator.ts';
import { EXIT } from '../../exit-codes.ts';
import { durationText } from '../../run/progress-lines.ts';
import { treeEnd } from '../../run/tree-run.ts';
import { TreeTally } from '../../run/tree-tally.ts';
import { onInterruption } from '../interruption.ts';
import type { Screen } from '../screen.ts';

/** `demo`: the whole engine on an embedded script. Contract: exits 0 only if everything happened as told. */
export async function demo(screen: Screen): Promise<number> {
  const stage = await setStage();
  introduce(stage, screen);
  const watch = new CallWatch(systemClock.now);
  const played = await play(stage, screen, watch);
  const calls = watch.all.filter(({ sessionId }) => sessionId === played.sessionId);
  summarize({ ...played, calls: watch.all }, stage, screen);
  if (played.end.status === 'cancelled') return EXIT.cancelled;
  const { end, events } = played;
  const failures = await disappointments({ end, calls, events, paths: stage.paths });
  for (const failure of failures) screen.tell(`agentd: the demo went wrong: not true that ${failure}`);
  return failures.length === 0 ? EXIT.completed : EXIT.failed;
}

interface Played {
  readonly end: RunEnd;
  readonly sessionId: string;
  /** Of the whole tree. */
  readonly events: readonly EngineEvent[];
}

async function play(stage: DemoStage, screen: Screen, watch: CallWatch): Promise<Played> {
  using interruption = onInterruption();
  const { situation, paths } = stage;
  const narrator = new Narrator(screen, watch);
  const stop = AbortSignal.any([interruption.signal, screen.closed]);
  const events: EngineEvent[] = [];
  const tally = new TreeTally();
  const { engine } = compose(situation);
  try {
    const session = await engine.createSession({
      cwd: situation.workspace,
      agent: 'default',
      title: 'agentd demo',
      mode: 'yolo',
      overlay: [
        { action: 'write', pattern: '*', effect: 'deny' },
        { action: 'write', pattern: `${paths.scratch}/*`, effect: 'allow' },
        { action: 'message', pattern: '*', effect: 'allow' },
      ],
      listener: listenerOf([watch, tally, narrator, { event: (event) => events.push(event) }]),
    });
    await stage.writeScript(session.handle);
    return { end: await runOf(session, tally, stop), sessionId: session.id, events };
  } finally {
    await engine.stop();
  }
}

function listenerOf(all: readonly SessionListener[]): Required<SessionListener> {
  return {
    event: (event) => {
      for (const one of all) one.event?.(event);
    },
    live: (event, sessionId) => {
      for (const one of all) one.live?.(event, sessionId);
    },
  };
}

async function runOf(session: Session, tally: TreeTally, signal: AbortSignal): Promise<RunEnd> {
  const started = await session.startRun({
    clientRunId: randomIds.uuid(),
    input: 'Show what you can do.',
    models: ['demo/guided-tour'],
    maxTurns: 20,
    timeoutMs: TIME_MS,
  });
  const waiting = { clock: systemClock, tally, msLeft: () => TIME_MS };
  return (await treeEnd({ session, started }, waiting, signal)).end;
}

const TIME_MS = 60_000;

function introduce({ situation }: DemoStage, screen: Screen): void {
  const { style, print } = screen;
  print(
    `${style('bold', 'agentd')} is an engine for coding agents: sessions on disk, tools under rules, output kept.\n`,
  );
  print('A scripted model plays the agent here: no key, no network. Tools, files and the log are real.\n');
  print(style('dim', `working directory: ${situation.workspace}\n`));
}

function summarize(
  { end, sessionId, calls }: Played & { readonly calls: readonly WatchedCall[] },
  { situation, paths, command }: DemoStage,
  { print, style }: Screen,
): void {
  const { home } = situation;
  const here = `AGENTD_HOME=${home} ${command}`;
  const uri = /artifact:\/\/[0-9a-f]{64}\/stdout/.exec(
    calls.map((call) => call.end?.result?.text ?? '').find((text) => text.includes('lines omitted')) ?? '',
  );
  const bytes = storedBytes(calls).toLocaleString('en');
  print(`\n${style('bold', 'What happened')}\n`);
  print(`  ${end.status} in ${durationText(end.durationMs)}: ${end.turns} turns, ${end.toolCalls} calls, `);
  print(`${end.denials} denied, ${bytes} bytes of output stored\n`);
  print(`  session  ${sessionId}\n  stored   ${home}\n  scratch  ${paths.scratch}\n`);
  print(`\n${style('bold', 'Look at it')}\n`);
  print(`  ${here} sessions show ${sessionId}\n`);
  print(`  ${here} sessions tree ${sessionId}\n`);
  print(`  ${here} sessions events ${sessionId}\n`);
  if (uri !== null) print(`  ${here} artifacts show ${uri[0]} --offset ${FLOOD.oddLine - 2} --limit 3\n`);
  print(`\n${style('bold', 'Use it')}\n  ANTHROPIC_API_KEY=… ${command} run "What does this project do?"\n`);
}
