import { AgentdError } from '@agentd/contract';
import { describe, expect, it } from '@jest/globals';
import { asSetUp, describeFault, notFoundError, setUpError, usageError } from './faults.ts';

describe('describeFault', () => {
  it.each([
    ['wrong usage', usageError('u'), 2],
    ['a set-up that is not right', setUpError('s'), 5],
    ['something that does not exist', notFoundError('n'), 1],
    ['a session that another process has', new AgentdError('ENGINE_SESSION_LOCKED', 'l'), 5],
    ['a provider without its key', new AgentdError('GATEWAY_KEY_MISSING', 'k'), 5],
    ['anything else', new TypeError('t'), 1],
  ])('has an exit code for %s [CLI-3]', (_, thrown, exitCode) => {
    expect(describeFault(thrown)).toMatchObject({ exitCode });
  });

  it('takes one line [CLI-1]', () => {
    expect(describeFault(new Error(' a:\n  b\n\n c ')).message).toBe('a: b c');
  });
});

describe('asSetUp', () => {
  it('makes a fault of the machine one of the set-up, and leaves wrong usage alone [CLI-3]', async () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    await expect(asSetUp(Promise.reject(full))).rejects.toMatchObject({
      code: 'AGENTD_SET_UP',
      message: 'no space left',
    });
    await expect(asSetUp(Promise.reject(usageError('u')))).rejects.toMatchObject({ code: 'AGENTD_USAGE' });
    expect(await asSetUp(Promise.resolve(1))).toBe(1);
  });
});
