import { describe, expect, it } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { flush } from '@agentd/contract/testing';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { StdioTransport } from './stdio-transport.ts';

async function setup() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const transport = new StdioTransport(input, output);
  const got: JSONRPCMessage[] = [];
  Object.assign(transport, { onmessage: (message: JSONRPCMessage) => got.push(message) });
  await transport.start();
  const say = async (text: string): Promise<void> => {
    input.write(text);
    await flush();
  };
  const said = (): unknown[] =>
    String(output.read() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  return { input, output, transport, got, say, said };
}

const request = (id: number | string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping"}\n`;

/** Whether a promise has settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await flush();
  return settled;
}

describe('StdioTransport', () => {
  it('T2 answers what is no message, with its id where it has one, and goes on', async () => {
    const { got, say, said } = await setup();
    await say('{"jsonrpc":"2.0"\n\n[]\n{"id":"a"}\n{"id":null,"method":1}\n17\n');
    await say(request(1));
    expect(said()).toEqual([
      { jsonrpc: '2.0', error: { code: -32700, message: 'this line is not JSON' } },
      { jsonrpc: '2.0', error: { code: -32600, message: 'this is no JSON-RPC 2.0 message' } },
      { jsonrpc: '2.0', id: 'a', error: { code: -32600, message: 'this is no JSON-RPC 2.0 message' } },
      { jsonrpc: '2.0', error: { code: -32600, message: 'this is no JSON-RPC 2.0 message' } },
      { jsonrpc: '2.0', error: { code: -32600, message: 'this is no JSON-RPC 2.0 message' } },
    ]);
    expect(got).toEqual([{ jsonrpc: '2.0', id: 1, method: 'ping' }]);
  });

  it('takes the messages of a batch one by one', async () => {
    const { got, say } = await setup();
    await say(`[${request(1).trim()},${request(2).trim()}]\n`);
    expect(got).toMatchObject([{ id: 1 }, { id: 2 }]);
  });

  it('T3 is quiet once each request is answered or cancelled', async () => {
    const { transport, say } = await setup();
    expect(await isSettled(transport.quiet())).toBe(true);
    await say(request(1) + request('b'));
    const quiet = transport.quiet();
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
    expect(await isSettled(quiet)).toBe(false);
    await say('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"b"}}\n');
    expect(await isSettled(quiet)).toBe(true);
  });

  it('T4 ends with the input, whose last line needs no end', async () => {
    const { input, transport, got } = await setup();
    expect(await isSettled(transport.ended)).toBe(false);
    input.end(request(1).trim());
    await transport.ended;
    expect(got).toMatchObject([{ id: 1 }]);
  });

  it('T4 ends when nobody takes what it says', async () => {
    const { output, transport } = await setup();
    output.destroy(new Error('EPIPE'));
    await transport.ended;
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
  });
});
