import { describe, expect, it } from '@jest/globals';
import type { ExecuteContext } from '@agentd/contract';
import { deferred, flush } from '@agentd/contract/testing';
import { callOf, fakeTool, said, turnFixture } from './testing/turn-fixture.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

describe('input of an interactive call', () => {
  it('reaches the tool in order, and is taken when the tool comes back for more [BASH-3]', async () => {
    const written = [deferred(), deferred()];
    const read: string[] = [];
    const fixture = turnFixture([
      fakeTool({
        execute: async ({ stdin }) => {
          for await (const chunk of stdin!) {
            read.push(Buffer.from(chunk).toString());
            await written[read.length - 1]?.promise;
          }
          return said(read.join('|'));
        },
      }),
    ]);
    const outcome = fixture.run([callOf('tool')], { acceptsStdin: true });
    await flush();
    const id = fixture.log.of('tool_call_started')[0]!.tool_call_id;
    const done: string[] = [];
    const submit = (text: string | null, eof: boolean) =>
      fixture.turnCalls
        .submitStdin(id, text === null ? null : bytes(text), eof)
        .then((accepted) => done.push(`${text} ${accepted}`));
    const submissions = [
      submit('one', false),
      submit('two', false),
      submit(null, true),
      submit('late', false),
    ];
    await flush();
    expect([read, done]).toEqual([['one'], ['late false']]);
    written[0]!.resolve();
    await flush();
    expect([read, done]).toEqual([
      ['one', 'two'],
      ['late false', 'one true'],
    ]);
    written[1]!.resolve();
    await Promise.all(submissions);
    expect((await outcome).reports[0]!.text).toBe('one|two');
    expect(done).toEqual(['late false', 'one true', 'two true', 'null true']);
    expect(fixture.log.of('tool_stdin_submitted')).toEqual([
      { type: 'tool_stdin_submitted', tool_call_id: id, byte_count: 3, eof: false },
      { type: 'tool_stdin_submitted', tool_call_id: id, byte_count: 3, eof: false },
      { type: 'tool_stdin_submitted', tool_call_id: id, byte_count: 0, eof: true },
    ]);
  });

  it('may end together with its last bytes [BASH-3]', async () => {
    const fixture = turnFixture([
      fakeTool({
        execute: async ({ stdin }) => {
          const read: string[] = [];
          for await (const chunk of stdin!) read.push(Buffer.from(chunk).toString());
          return said(read.join('|'));
        },
      }),
    ]);
    const outcome = fixture.run([callOf('tool')], { acceptsStdin: true });
    await flush();
    const id = fixture.log.of('tool_call_started')[0]!.tool_call_id;
    expect(await fixture.turnCalls.submitStdin(id, bytes('all'), true)).toBe(true);
    expect((await outcome).reports[0]!.text).toBe('all');
  });

  it('is refused where the tool reads none, where the call is over, and for an unknown call [BASH-3]', async () => {
    const end = deferred();
    let context: ExecuteContext | undefined;
    const fixture = turnFixture([
      fakeTool({
        execute: async (given) => {
          context = given;
          await end.promise;
          return said('');
        },
      }),
    ]);
    const outcome = fixture.run([callOf('tool')], { acceptsStdin: true });
    await flush();
    const id = fixture.log.of('tool_call_started')[0]!.tool_call_id;
    const submit = () => fixture.turnCalls.submitStdin(id, bytes('x'), false);
    expect(await submit()).toBe(false);
    context!.stdin![Symbol.asyncIterator]();
    const stuck = submit();
    await flush();
    end.resolve();
    await outcome;
    expect(await stuck).toBe(false);
    expect(await submit()).toBe(false);
    expect(await fixture.turnCalls.submitStdin('nobody', null, true)).toBe(false);
    expect(fixture.log.of('tool_stdin_submitted')).toEqual([]);
  });

  it('is null where nobody can send any [BASH-3]', async () => {
    let stdin: unknown;
    const fixture = turnFixture([
      fakeTool({
        execute: async (context) => {
          stdin = context.stdin;
          return said('');
        },
      }),
    ]);
    await fixture.run([callOf('tool')]);
    expect(stdin).toBeNull();
  });
});
