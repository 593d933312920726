import { describe, expect, it } from '@jest/globals';
import { chunked, cutAfter, hangAfter, httpError, openaiTurn, startModelServer } from './testing/index.ts';

const ask = (url: string, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/v1/any`, { method: 'POST', body: '{"a":1}', ...(signal === undefined ? {} : { signal }) });

describe('the model server', () => {
  it('uses queued answers once each, then asks the function, and refuses without either', async () => {
    await using server = await startModelServer();
    server.reply(httpError(503, { busy: true }, { 'retry-after': '1' }), httpError(500, 'plain'));
    const first = await ask(server.url);
    expect([first.status, first.headers.get('retry-after'), await first.json()]).toEqual([
      503,
      '1',
      { busy: true },
    ]);
    expect(await (await ask(server.url)).text()).toBe('plain');
    expect((await ask(server.url)).status).toBe(400);
    server.reply((request, index) => httpError(418, { index, path: request.path, body: request.body }));
    expect(await (await ask(server.url)).json()).toEqual({ index: 3, path: '/v1/any', body: { a: 1 } });
    expect(server.requests).toHaveLength(4);
  });

  it('writes the pieces it is told to', async () => {
    await using server = await startModelServer();
    server.reply(chunked({ status: 200, headers: {}, body: 'äbcdefgh' }, 1, 3));
    const sizes: number[] = [];
    for await (const piece of (await ask(server.url)).body ?? []) sizes.push(piece.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(9);
    expect(sizes.length).toBeGreaterThan(1);
  });

  it('cuts connections and tells when a client has left', async () => {
    await using server = await startModelServer();
    const whole = openaiTurn({ text: 'some words' });
    server.reply(cutAfter(whole, 100), hangAfter(whole, 100));
    await expect(ask(server.url).then((response) => response.text())).rejects.toThrow();
    const abort = new AbortController();
    const response = await ask(server.url, abort.signal);
    abort.abort();
    await expect(response.text()).rejects.toThrow();
    expect(await server.requests[1]?.finished).toBe(false);
  });
});
