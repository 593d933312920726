import { afterEach, describe, expect, it } from '@jest/globals';
import { manualClock } from '@agentd/contract/testing';
import { HttpDoor } from './http-door.ts';

const PARTS = {
  definitions: [],
  call: async () => ({ content: [] }),
  instructions: 'none',
  notice: null,
};

const MINUTE = 60_000;

let open: HttpDoor | null = null;
afterEach(async () => open?.close());

async function setup() {
  const clock = manualClock();
  const door = new HttpDoor({ parts: PARTS, token: null, clock, maxClients: 2 });
  open = door;
  const url = await door.listen(0);
  const post = async (message: object, headers: Record<string, string> = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...message }),
    });
    // The session counts as idle once its answer is read to the end.
    await response.text();
    return response;
  };
  const initialize = async (headers: Record<string, string> = {}) => {
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
    const { status, headers: got } = await post({ method: 'initialize', params }, headers);
    return { status, id: got.get('mcp-session-id') ?? '' };
  };
  const ping = async (id: string) => (await post({ method: 'ping' }, { 'mcp-session-id': id })).status;
  return { clock, initialize, ping };
}

describe('HttpDoor', () => {
  it('H3 makes room for a new session by ending one that was idle for long, and no other [MCP-8]', async () => {
    const { clock, initialize, ping } = await setup();
    const first = await initialize();
    const second = await initialize();
    expect((await initialize()).status).toBe(503);
    clock.advance(4 * MINUTE);
    expect(await ping(second.id)).toBe(200);
    clock.advance(2 * MINUTE);
    const third = await initialize();
    expect(await Promise.all([first, second, third].map(({ id }) => ping(id)))).toEqual([404, 200, 200]);
  });

  it('H3 gives no room to what never became a session [MCP-8]', async () => {
    const { initialize } = await setup();
    for (let count = 0; count < 3; count++)
      expect((await initialize({ accept: 'text/html' })).status).toBe(406);
    expect((await initialize()).status).toBe(200);
    expect((await initialize()).status).toBe(200);
  });
});
