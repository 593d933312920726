import { constants } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { exitReport } from './exit-report.ts';

describe('exitReport', () => {
  it.each(Object.entries(constants.signals))('gives %s the exit code 128 + %d [BASH-5]', (name, number) => {
    const signal = name as NodeJS.Signals;
    const { metadata, closingLine } = exitReport({ cause: 'exit', code: null, signal, durationMs: 1 }, 5);
    expect(metadata).toMatchObject({ exit_code: 128 + number, signal: name });
    expect(closingLine).toBe(`signal: ${name}`);
  });

  it('tells a stop from outside before the way in which the command then ended [BASH-5]', () => {
    const end = { code: 0, signal: null, durationMs: 12.4 };
    const timeout = exitReport({ ...end, cause: 'timeout' }, 1000);
    expect(timeout).toEqual({
      output: { kind: 'streamed' },
      error: { code: 'timeout', message: expect.stringMatching(/1000 ms.*larger "timeout"/) },
      closingLine: 'timed out after 1000 ms',
      metadata: { exit_code: 0, signal: null, timed_out: true, duration_ms: 12 },
    });
    const cancel = exitReport({ ...end, cause: 'cancel' }, 1000);
    expect(cancel.error?.code).toBe('cancelled');
    expect(cancel.closingLine).toBe('exit code: 0');
  });
});
