import { constants, open } from 'node:fs/promises';
import { codeOf, type SessionId } from '@agentd/contract';
import { engineError } from '../errors.ts';
import { SessionLogParser, type ParsedLog } from '../session-log-parser.ts';

const CHUNK_BYTES = 256 * 1024;

/** A FIFO in place of the log must not hold the reader up, and a link must not lead it elsewhere. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** What no regular file is in place of a log. */
const NOT_A_FILE = new Set(['EISDIR', 'ELOOP', 'ENXIO', 'ENOENT', 'ENOTDIR']);

/**
 * Reads a session's log and changes nothing. Throws `ENGINE_SESSION_DAMAGED` where there is no readable first event
 * (SES-3).
 */
export async function readLog(path: string, sessionId: SessionId): Promise<ParsedLog> {
  const parsed = await parseFile(path).catch((error: unknown) => {
    const code = codeOf(error);
    if (code === undefined || !NOT_A_FILE.has(code)) throw error;
    throw damaged(sessionId, 'events.jsonl is missing or no regular file');
  });
  const problem = firstEventProblem(parsed);
  if (problem !== undefined) throw damaged(sessionId, problem);
  return parsed;
}

/** As `readLog`, but reads no further than the first event. Answers why the session is damaged, or null. */
export async function damageOf(path: string): Promise<string | null> {
  try {
    return firstEventProblem(await parseFile(path, 1)) ?? null;
  } catch (error) {
    return `events.jsonl cannot be read (${codeOf(error) ?? String(error)})`;
  }
}

async function parseFile(path: string, enough = Infinity): Promise<ParsedLog> {
  const handle = await open(path, FLAGS);
  try {
    if (!(await handle.stat()).isFile())
      throw Object.assign(new Error('no regular file'), { code: 'EISDIR' });
    const parser = new SessionLogParser();
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    while (parser.count < enough) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      parser.push(buffer.subarray(0, bytesRead));
    }
    return parser.end();
  } finally {
    await handle.close();
  }
}

function firstEventProblem({ events, diagnostics }: ParsedLog): string | undefined {
  const [first] = events;
  if (first?.payload.type === 'session_created') return undefined;
  const [reason] = diagnostics;
  if (first === undefined && reason === undefined) return 'events.jsonl is empty';
  return `the first event is not session_created${reason === undefined ? '' : ` (${reason.message})`}`;
}

function damaged(sessionId: SessionId, problem: string): Error {
  return engineError('ENGINE_SESSION_DAMAGED', `session ${sessionId} cannot be opened: ${problem}`);
}
