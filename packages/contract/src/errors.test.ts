import { describe, expect, it } from '@jest/globals';
import { AgentdError, codeOf, isAgentdError, messageOf } from './errors.ts';

describe('AgentdError', () => {
  it('is recognised by brand, so that a second copy of the class counts', () => {
    const foreign = Object.defineProperty(new Error('x'), Symbol.for('agentd.error'), { value: true });
    expect(isAgentdError(foreign)).toBe(true);
    expect(isAgentdError(new AgentdError('A_CODE', 'x'))).toBe(true);
    expect(isAgentdError(new Error('x'))).toBe(false);
    expect(isAgentdError(undefined)).toBe(false);
  });

  it('carries code, message, cause and details', () => {
    const error = new AgentdError('A_CODE', 'text', { cause: 1, details: { at: 2 } });
    expect([error.code, error.message, error.cause, error.details]).toEqual(['A_CODE', 'text', 1, { at: 2 }]);
    expect(codeOf(error)).toBe('A_CODE');
  });

  it('reads codes and messages of whatever is thrown', () => {
    expect(codeOf({ code: 'ENOENT' })).toBe('ENOENT');
    expect(codeOf('text')).toBeUndefined();
    expect(codeOf({ code: 5 })).toBeUndefined();
    expect(messageOf(new Error('m'))).toBe('m');
    expect(messageOf('plain')).toBe('plain');
  });
});
