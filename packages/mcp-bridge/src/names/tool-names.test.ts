import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { assignNames } from './tool-names.ts';

const NONE: ReadonlySet<string> = new Set();
const origin = (server: string, tool: string) => ({ server, tool });
const hash = (server: string, tool: string): string =>
  createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8);
const namesOf = (origins: readonly ReturnType<typeof origin>[], reserved = NONE) =>
  [...assignNames(origins, reserved).byName.keys()].toSorted();

describe('names of MCP tools', () => {
  it('are server and tool, with what providers refuse as underscores [MCP-3] [field H6]', () => {
    expect(namesOf([origin('my.server', 'get.data'), origin('s', 'näme x/y')])).toEqual([
      'my_server_get_data',
      's_n_me_x_y',
    ]);
  });

  it('are cut and hashed beyond 64 characters [MCP-3]', () => {
    const tool = 't'.repeat(80);
    const [name] = namesOf([origin('s', tool)]);
    expect(name).toBe(`${`s_${tool}`.slice(0, 55)}_${hash('s', tool)}`);
    expect(name).toHaveLength(64);
    expect(namesOf([origin('s', 't'.repeat(62))])).toEqual([`s_${'t'.repeat(62)}`]);
  });

  it('all get a hash where several would be one [MCP-3]', () => {
    const clash = [origin('a', 'b_c'), origin('a_b', 'c'), origin('x', 'y.z'), origin('x', 'y_z')];
    expect(namesOf([...clash, origin('q', 'r')])).toEqual(
      [
        `a_b_c_${hash('a', 'b_c')}`,
        `a_b_c_${hash('a_b', 'c')}`,
        `x_y_z_${hash('x', 'y.z')}`,
        `x_y_z_${hash('x', 'y_z')}`,
        'q_r',
      ].toSorted(),
    );
  });

  it('give way to names of ours [MCP-3]', () => {
    const reserved = new Set(['send_message']);
    expect(namesOf([origin('send', 'message')], reserved)).toEqual([
      `send_message_${hash('send', 'message')}`,
    ]);
  });

  it('route back by a map; who aims at the name of another gets none [MCP-3]', () => {
    const aimed = `message_${hash('send', 'message')}`;
    const { byName, nameless } = assignNames(
      [origin('send', 'message'), origin('send', aimed)],
      new Set(['send_message']),
    );
    expect([...byName]).toEqual([[`send_${aimed}`, origin('send', aimed)]]);
    expect(nameless).toMatchObject([{ server: 'send', tool: 'message' }]);
  });

  it('are valid, one each, the same in any order, and lead back [MCP-3]', () => {
    const part = fc.oneof(
      fc.string({ maxLength: 90, unit: 'grapheme' }),
      fc.constantFrom('a', 'a_b', 'b', 'b_c', 'c'),
    );
    const origins = fc.uniqueArray(fc.record({ server: part, tool: part }), {
      maxLength: 12,
      selector: ({ server, tool }) => JSON.stringify([server, tool]),
    });
    fc.assert(
      fc.property(origins, (all) => {
        const { byName, nameless } = assignNames(all, new Set(['a_b_c']));
        expect(byName.size + nameless.length).toBe(all.length);
        for (const name of byName.keys()) {
          expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(name).not.toBe('a_b_c');
        }
        const reversed = assignNames(all.toReversed(), new Set(['a_b_c']));
        expect(Object.fromEntries(reversed.byName)).toEqual(Object.fromEntries(byName));
      }),
    );
  });
});
