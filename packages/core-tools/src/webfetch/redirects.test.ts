import { describe, expect, it } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { answering, eventually, fetchText, serve } from './testing/web-harness.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;

const seen = ({ url, headers }: IncomingMessage): object => ({
  url,
  authorization: headers.authorization,
  cookie: headers.cookie,
});

/** Counts its requests down: `/3` redirects to `/2`, … `/0` is the page. */
function countdown() {
  return serve((request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) response.writeHead(200, { 'content-type': 'text/plain' }).end('there');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
}

describe('redirects', () => {
  it('are followed ten times, not eleven [WEB-10]', async () => {
    await using server = await countdown();
    const { body, metadata } = await fetchText(`${server.origin}/10`);
    expect({ body, final: metadata?.['final_url'] }).toEqual({ body: 'there', final: `${server.origin}/0` });
    await expect(fetchText(`${server.origin}/11`)).rejects.toMatchObject({
      code: 'redirect_error',
      message: expect.stringContaining('more than 10 times'),
    });
    expect(server.requests.length).toBe(11 + 11);
    await eventually(() => server.sockets.size === 0);
  });

  it.each([301, 302, 303, 307, 308])('of status %d are followed with GET [WEB-10]', async (status) => {
    await using server = await serve((request, response) => {
      if (request.url === '/to')
        response.writeHead(200, { 'content-type': 'text/plain' }).end(request.method);
      else response.writeHead(status, { location: 'to', 'content-type': 'image/png' }).end('ignored');
    });
    expect((await fetchText(server.origin)).body).toBe('GET');
  });

  it.each([
    ['http://[', 'no valid URL'],
    ['ftp://x.test/file', 'not an http or https URL'],
    ['file:///etc/passwd', 'not an http or https URL'],
    ['javascript:alert(1)', 'not an http or https URL'],
  ])('to %s are an error [WEB-11]', async (location, problem) => {
    await using server = await serve(
      (_request, response) => void response.writeHead(302, { location }).end(),
    );
    await expect(fetchText(server.origin)).rejects.toMatchObject({
      code: 'redirect_error',
      message: expect.stringContaining(problem),
    });
    expect(server.requests.length).toBe(1);
  });

  it('without a Location are results [WEB-11]', async () => {
    await using server = await serve(answering('text/html', '<p>moved</p>', 302));
    const { body, metadata } = await fetchText(server.origin);
    expect([body, metadata?.['status_code']]).toEqual(['moved', 302]);
  });

  it('understand a Location in plain UTF-8, and keep the place in the page [WEB-10]', async () => {
    await using server = await serve((request, response) => {
      if (request.url !== '/') response.writeHead(200, { 'content-type': 'text/plain' }).end(request.url);
      else response.writeHead(302, { location: Buffer.from('/grün').toString('latin1') }).end();
    });
    const { body, metadata } = await fetchText(`${server.origin}/#part`);
    expect([body, metadata?.['final_url']]).toEqual(['/gr%C3%BCn', `${server.origin}/gr%C3%BCn#part`]);
  });
});

describe('user name and password of the address', () => {
  it.each([
    ['us%40er:p%3Aw%2F', 'us@er:p:w/'],
    ['user:', 'user:'],
    [':secret', ':secret'],
    ['50%:gr%C3%BCn', '50%:grün'],
  ])('%s are sent decoded as %s [field D11]', async (userInfo, sent) => {
    await using server = await serve(answering('text/plain', 'in'));
    const { text, metadata } = await fetchText(`http://${userInfo}@127.0.0.1:${server.port}/`);
    expect(server.requests[0]?.headers.authorization).toBe(basic(sent));
    expect(metadata?.['final_url']).toBe(`${server.origin}/`);
    expect(text).not.toContain('@');
  });

  it('stay with their origin on redirects, as cookies do [field D10]', async () => {
    await using other = await serve(answering('text/plain', 'B'));
    await using first = await serve((request, response) => {
      const location = request.url === '/' ? '/again' : `${other.origin}/`;
      response.writeHead(302, { location, 'set-cookie': 'a=b; Path=/' }).end();
    });
    const { metadata } = await fetchText(`http://u:p@127.0.0.1:${first.port}/`);
    expect(first.requests.map(seen)).toEqual([
      { url: '/', authorization: basic('u:p'), cookie: undefined },
      { url: '/again', authorization: basic('u:p'), cookie: 'a=b' },
    ]);
    expect(other.requests.map(seen)).toEqual([{ url: '/', authorization: undefined, cookie: undefined }]);
    expect(metadata?.['final_url']).toBe(`${other.origin}/`);
  });

  it('do not come back when the way leads back [field D10]', async () => {
    await using other = await serve(
      (request, response) => void response.writeHead(302, { location: request.url?.slice(1) }).end(),
    );
    await using first = await serve((request, response) => {
      if (request.url === '/end') response.writeHead(200, { 'content-type': 'text/plain' }).end('end');
      else response.writeHead(302, { location: `${other.origin}/${first.origin}/end` }).end();
    });
    await fetchText(`http://u:p@127.0.0.1:${first.port}/`);
    expect(first.requests.map(seen)).toMatchObject([
      { authorization: basic('u:p') },
      { authorization: undefined },
    ]);
  });

  it('of a redirect target are used for it and never shown [field D10] [WEB-12]', async () => {
    await using server = await serve((request, response) => {
      if (request.url !== '/') response.writeHead(200, { 'content-type': 'text/plain' }).end('in');
      else response.writeHead(302, { location: `http://new:hidden@127.0.0.1:${server.port}/in` }).end();
    });
    const { text, metadata } = await fetchText(server.origin);
    expect(server.requests[1]?.headers.authorization).toBe(basic('new:hidden'));
    expect(metadata?.['final_url']).toBe(`${server.origin}/in`);
    expect(text).not.toContain('hidden');
  });
});

describe('cookies', () => {
  it('let a page that redirects to itself be read, and end with the fetch [field D19]', async () => {
    await using server = await serve((request, response) => {
      if (request.headers.cookie === 'a=b')
        response.writeHead(200, { 'content-type': 'text/plain' }).end('in');
      else response.writeHead(302, { location: request.url, 'set-cookie': 'a=b' }).end();
    });
    expect((await fetchText(server.origin)).body).toBe('in');
    expect((await fetchText(server.origin)).body).toBe('in');
    expect(server.requests.map(({ headers }) => headers.cookie)).toEqual([
      undefined,
      'a=b',
      undefined,
      'a=b',
    ]);
  });

  it('on a final answer do not keep its body from coming [field D19]', async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': ['a=b', 'c=d'] }).end('short');
    });
    expect((await fetchText(server.origin)).body).toBe('short');
  });
});
