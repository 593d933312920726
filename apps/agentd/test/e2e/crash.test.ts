import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openaiTurn, startModelServer, type ModelServer } from '@agentd/model-gateway/testing';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conversationProblems, lastUserText, stepsSince } from './conversation.ts';
import { eventsOnDisk, sessionIds } from './home-folder.ts';
import { runAgentd, startAgentd } from './agentd-process.ts';

const POINTS = 50;
/** A whole run takes about this long from the first request on; kills are spread over it and a little more. */
const SPAN_MS = 900;
const CALLS_A_RUN = 5;

/**
 * What the model does in answer to a prompt: four steps, five calls, large output among them. A command leaves a mark
 * of its own before it works, so that one that ran twice can be told.
 */
function nextTurn(body: unknown) {
  const prompt = lastUserText(body);
  const mark = (name: string): string => JSON.stringify(`${prompt}/${name}`);
  const bash = (name: string, work: string) => ({
    id: `call_${prompt}_${name}`,
    name: 'bash',
    args: { command: `echo ${mark(name)} >> marks; ${work}` },
  });
  const steps = [
    openaiTurn({
      text: 'First two at once. '.repeat(20),
      calls: [bash('a', 'sleep 0.05'), bash('b', 'seq 1 3000')],
    }),
    openaiTurn({ calls: [bash('c', 'head -c 400000 /dev/zero | tr "\\\\0" x; sleep 0.05')] }),
    openaiTurn({
      calls: [
        {
          id: `call_${prompt}_w`,
          name: 'write',
          args: { filePath: 'note.txt', content: `${prompt}\n`.repeat(2000) },
        },
        bash('d', 'sleep 0.05'),
      ],
    }),
    openaiTurn({ text: 'All done.' }),
  ];
  const step = stepsSince(body);
  return steps[step] ?? openaiTurn({ text: 'There is nothing left to do.' });
}

describe('a run that is killed at any moment', () => {
  let server: ModelServer;
  let root: string;
  const problems: string[] = [];
  /** What to do when the first request of a prompt arrives. */
  const arrivals = new Map<string, () => void>();

  beforeAll(async () => {
    server = await startModelServer();
    server.reply(({ body }) => {
      problems.push(...conversationProblems(body));
      arrivals.get(lastUserText(body))?.();
      return nextTurn(body);
    });
    root = await mkdtemp(join(tmpdir(), 'agentd-crash-'));
    await writeFile(
      join(root, 'config.toml'),
      `[providers.local]\nadaptor = "openai-compatible"\nbase_url = "${server.url}/v1"\napi_key = "none"\n`,
    );
  });
  afterAll(async () => {
    await server.close();
    await rm(root, { recursive: true, force: true });
  });

  async function killAndContinue(point: number): Promise<'continued' | 'nothing to continue'> {
    const folder = await mkdtemp(join(root, 'point-'));
    const home = join(folder, 'home');
    const cwd = await mkdtemp(join(folder, 'work-'));
    const flags = [
      '--output',
      'json',
      '--mode',
      'yolo',
      '--model',
      'local/any',
      '--config',
      join(root, 'config.toml'),
    ];
    const firstRequest = new Promise<void>((arrived) => arrivals.set(`p${point}`, arrived));
    const running = startAgentd(['run', `p${point}`, ...flags], { home, cwd });
    // One in ten is killed while it starts; for the others the clock starts with the first request.
    if (point % 10 !== 0) await Promise.race([firstRequest, running.ended]);
    // Somewhere in its own fiftieth of the span: random, and no part of a run is left out.
    await running.killAfter((SPAN_MS * (point + Math.random())) / POINTS);

    const printed = running.stdoutLines().flatMap((line) => (line.type === 'event' ? [line.event] : []));
    const [id] = await sessionIds(home);
    if (id === undefined) {
      expect(printed).toEqual([]);
      return 'nothing to continue';
    }
    // What was told to a caller is on disk (SES-2).
    const onDisk = await eventsOnDisk(home, id);
    const told = printed.map(({ seq }) => seq);
    expect(onDisk.map(({ seq }) => seq)).toEqual(expect.arrayContaining(told));

    const second = await runAgentd(['run', `q${point}`, '--session', id, ...flags], { home, cwd });
    expect({ code: second.code, stderr: second.stderr }).toEqual({ code: 0, stderr: '' });
    await expectWhole(home, { id, cwd });
    return 'continued';
  }

  /** Every call has one end, nothing ran twice, and the second prompt was answered in full. */
  async function expectWhole(
    home: string,
    { id, cwd }: { readonly id: string; readonly cwd: string },
  ): Promise<void> {
    const events = await eventsOnDisk(home, id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const started = events.flatMap(({ payload }) =>
      payload.type === 'tool_call_started' ? [String(payload['tool_call_id'])] : [],
    );
    const ended = events.flatMap(({ payload }) =>
      payload.type === 'tool_call_terminated' ? [String(payload['tool_call_id'])] : [],
    );
    expect(ended.toSorted()).toEqual(started.toSorted());
    const runs = events.filter(({ payload }) => payload.type === 'run_started').length;
    const ends = events.filter(({ payload }) => /^run_(completed|interrupted)$/.test(payload.type)).length;
    expect(ends).toBe(runs);
    const marks = (await readFile(join(cwd, 'marks'), 'utf8')).trim().split('\n');
    expect(new Set(marks).size).toBe(marks.length);
    expect(marks.filter((mark) => mark.startsWith('q'))).toHaveLength(CALLS_A_RUN - 1);
    const note = await readFile(join(cwd, 'note.txt'), 'utf8');
    expect(new Set(note.split('\n')).size).toBe(2);
  }

  it(`goes on at each of ${POINTS} points: open calls are interrupted, requests are valid, nothing is lost or run twice [SES-5] [SES-6] [SES-2] [field I1]`, async () => {
    const points = Array.from({ length: POINTS }, (_, index) => index);
    const outcomes: string[] = [];
    const worker = async (): Promise<void> => {
      for (let point = points.pop(); point !== undefined; point = points.pop())
        outcomes.push(await killAndContinue(point));
    };
    await Promise.all([worker(), worker(), worker()]);
    expect(problems).toEqual([]);
    expect(outcomes.filter((outcome) => outcome === 'continued').length).toBeGreaterThan(POINTS / 2);
  }, 900_000);
});
