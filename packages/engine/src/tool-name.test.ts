import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { wireToolName } from './tool-name.ts';

describe('wireToolName', () => {
  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'])(
    'gives %s, which plain objects inherit, a name that none has [SES-5]',
    (name) => {
      expect(wireToolName(name)).toBe(`${name}_`);
    },
  );

  it('makes of anything a name that every provider takes, and keeps it when it is one [SES-5] [field I4]', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
        const wire = wireToolName(name);
        expect(wire).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(wireToolName(wire)).toBe(wire);
      }),
    );
    expect(wireToolName('mcp_server-tool')).toBe('mcp_server-tool');
  });
});
