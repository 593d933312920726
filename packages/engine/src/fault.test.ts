import { describe, expect, it } from '@jest/globals';
import { modelError } from '@agentd/contract';
import { faultOf } from './fault.ts';

describe('the fault of an event', () => {
  it('holds nothing that a terminal obeys, whatever a server said [SES-9]', () => {
    const thrown = modelError(
      'MODEL_REFUSED',
      'bad \u001b[31mred\u0007\u001b]0;title\u0007\u009b1m\r\nnext\ud800',
    );
    expect(faultOf(thrown)).toEqual({
      code: 'MODEL_REFUSED',
      message: 'bad  [31mred  ]0;title  1m\nnext\ufffd',
    });
  });

  it('is bounded, and has a code for what has none', () => {
    const { code, message } = faultOf(new Error('x'.repeat(10_000)));
    expect(code).toBe('ENGINE_DEFECT');
    expect(message).toHaveLength(4097);
  });
});
