import { describe, expect, it } from '@jest/globals';
import { manualClock } from '@agentd/contract/testing';
import { bridgeBench, callTool, httpServer, textOf, until } from '../test/bridge-bench.ts';
import { oddHttp } from '../test/odd-http.ts';

const stateOf = (bench: ReturnType<typeof bridgeBench>) =>
  bench.bridge.statuses().map(({ state, problem }) => [state, problem])[0];

describe('servers behind Streamable HTTP', () => {
  it.each<[number, string]>([
    [404, 'Session not found'],
    [410, ''],
    [400, 'Bad Request: No valid session ID provided'],
  ])('get one new session where theirs is gone: HTTP %i [field H16] [MCP-4]', async (code, body) => {
    await using server = await oddHttp();
    await using bench = bridgeBench({ servers: { s: httpServer(server.url) } });
    expect(textOf(await bench.call('s_echo', {}))).toBe('from session-1');
    server.sessions.clear();
    server.take = ({ message, status, request }) => {
      const isLost =
        message.method === 'tools/call' && !server.sessions.has(String(request.headers['mcp-session-id']));
      if (isLost) status(code, body);
      return isLost;
    };
    server.seen.length = 0;
    expect(textOf(await bench.call('s_echo', {}))).toBe('from session-2');
    const methods = server.seen.filter(({ method }) => !['GET', 'DELETE'].includes(method));
    expect(methods.map(({ method, session }) => [method, session])).toEqual([
      ['tools/call', 'session-1'],
      ['initialize', undefined],
      ['notifications/initialized', 'session-2'],
      ['tools/list', 'session-2'],
      ['tools/call', 'session-2'],
    ]);
    server.take = ({ message, status }) => {
      if (message.method === 'tools/call') status(code, body);
      return message.method === 'tools/call';
    };
    await expect(bench.call('s_echo', {})).rejects.toMatchObject({ code: 'mcp_error' });
    expect(server.seen.filter(({ method }) => method === 'tools/call')).toHaveLength(4);
  });

  it('that hold an answer for ever end at the limit, and are replaced where they stay silent [field H22] [MCP-4]', async () => {
    await using server = await oddHttp();
    let isHung = true;
    let aborted = 0;
    server.take = ({ message, response }) => {
      const isHeld = isHung && (message.method === 'tools/call' || message.method === 'ping');
      if (isHeld) response.on('close', () => (aborted += 1));
      return isHeld;
    };
    const seen = (wanted: string) => server.seen.filter(({ method }) => method === wanted).length;
    const clock = manualClock();
    await using bench = bridgeBench({
      servers: { s: httpServer(server.url, { timeoutMs: 5000 }) },
      ports: { clock },
    });
    const tool = (await bench.tools())[0]!;

    const first = callTool(tool, {});
    await until(() => seen('tools/call') === 1);
    clock.advance(5000);
    await expect(first).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('the call took more than 5000 ms'),
    });

    const user = new AbortController();
    const cancelled = callTool(tool, {}, { signal: user.signal });
    await until(() => seen('ping') === 1);
    user.abort(new Error('enough'));
    await expect(cancelled).rejects.toThrow('enough');

    const next = callTool(tool, {});
    await until(() => seen('ping') === 2);
    isHung = false;
    clock.advance(2000);
    expect(textOf(await next)).toBe('from session-2');
    await until(() => aborted > 0);
  });

  it('hear of a cancelled call, and its answer is given up [MCP-4] [field H22]', async () => {
    await using server = await oddHttp();
    let ended = false;
    server.take = ({ message, response }) => {
      if (message.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': here\n\n');
      response.on('close', () => (ended = true));
      return true;
    };
    await using bench = bridgeBench({ servers: { s: httpServer(server.url) } });
    await bench.tools();
    const user = new AbortController();
    const call = bench.call('s_echo', {}, { signal: user.signal });
    await until(() => server.seen.some(({ method }) => method === 'tools/call'));
    user.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await until(() => ended);
    const notice = server.seen.find(({ method }) => method === 'notifications/cancelled');
    expect(notice?.params).toMatchObject({ requestId: expect.any(Number) });
  });

  it('that break off in the middle of an answer fail the call at once [field H22]', async () => {
    await using server = await oddHttp();
    server.take = ({ message, response }) => {
      if (message.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('event: message\ndata: {"jsonrpc":"2.0","id":');
      setTimeout(() => response.destroy(), 10);
      return true;
    };
    await using bench = bridgeBench({ servers: { s: httpServer(server.url) } });
    await bench.tools();
    await expect(bench.call('s_echo', {})).rejects.toMatchObject({
      code: 'mcp_error',
      message: expect.stringContaining('the connection ended'),
    });
    server.take = () => false;
    expect(textOf(await bench.call('s_echo', {}))).toMatch(/^from session-/);
  });

  it('take an answer as events, with progress [MCP-4] [field H14]', async () => {
    await using server = await oddHttp();
    server.take = ({ message, response }) => {
      if (message.method !== 'tools/call') return false;
      const { id, params } = message;
      const token = (params?.['_meta'] as { readonly progressToken?: number } | undefined)?.progressToken;
      const event = (body: object) =>
        response.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...body })}\n\n`);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      event({
        method: 'notifications/progress',
        params: { progressToken: token, progress: 1, total: 2, message: 'half' },
      });
      event({ id, result: { content: [{ type: 'text', text: 'done' }] } });
      response.end();
      return true;
    };
    await using bench = bridgeBench({ servers: { s: httpServer(server.url) } });
    const told: unknown[] = [];
    const report = async (progress: { readonly message?: string }) => void told.push(progress.message);
    expect(textOf(await bench.call('s_echo', {}, { report }))).toBe('done');
    expect(told).toEqual(['half (1/2)']);
  });

  it('have a state that says what is wrong [MCP-1]', async () => {
    await using server = await oddHttp();
    const cases: readonly [number, string, Readonly<Record<string, string>>, readonly [string, RegExp]][] = [
      [401, '', {}, ['needs_auth', /wants credentials; set them in its headers/]],
      [500, 'kaputt', {}, ['failed', /HTTP 500: .*kaputt/]],
      [
        200,
        '<html></html>',
        { 'content-type': 'text/html' },
        ['failed', /no MCP message: is the address right\?/],
      ],
    ];
    for (const [code, body, headers, [state, problem]] of cases) {
      server.take = ({ status }) => {
        status(code, body, headers);
        return true;
      };
      await using bench = bridgeBench({ servers: { s: httpServer(server.url) } });
      await bench.tools();
      expect(stateOf(bench)).toEqual([state, expect.stringMatching(problem)]);
    }
    const closed = await oddHttp();
    await closed[Symbol.asyncDispose]();
    await using bench = bridgeBench({ servers: { s: httpServer(closed.url) } });
    await bench.tools();
    expect(stateOf(bench)).toEqual(['failed', 'nobody listens there (connection refused)']);
  });

  it('end their sessions when the bridge closes [MCP-7]', async () => {
    await using server = await oddHttp();
    const bench = bridgeBench({ servers: { s: httpServer(server.url) } });
    await bench.tools();
    await bench.bridge.close();
    expect(server.seen.at(-1)).toMatchObject({ method: 'DELETE', session: 'session-1' });
  });
});
