import { closeSync, fdatasync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type { EventEnvelope, InboxLog } from '@agentd/contract';

const dataSync = promisify(fdatasync);

export interface FileLog extends InboxLog {
  /** What it held when it was opened. */
  readonly events: readonly EventEnvelope[];
  readonly close: () => void;
}

/** A log in a file, just good enough to be killed: lines of JSON, a torn last one is cut off. */
export function openFileLog(path: string): FileLog {
  const file = openSync(path, 'a+');
  const text = readFileSync(path, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  ftruncateSync(file, Buffer.byteLength(whole));
  const events = whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as EventEnvelope);
  let seq = events.at(-1)?.seq ?? 0;
  return {
    events,
    append: (payload, runId) => {
      seq += 1;
      const timestamp = new Date().toISOString();
      const event = { seq, session_id: 's', run_id: runId, timestamp, engine_version: 'test', payload };
      writeSync(file, `${JSON.stringify(event)}\n`);
      return event;
    },
    sync: () => dataSync(file),
    close: () => closeSync(file),
  };
}
