import { describe, expect, it } from '@jest/globals';
import { chooseProxy } from './proxy-choice.ts';

const P = 'http://proxy.test:3128';

function proxyOf(url: string, environment: NodeJS.ProcessEnv): string | null | undefined {
  const choice = chooseProxy(new URL(url), environment);
  return choice === null ? null : choice.proxy?.origin;
}

describe('chooseProxy', () => {
  it.each<[string, NodeJS.ProcessEnv, string | null]>([
    ['http://a.test/', {}, null],
    ['http://a.test/', { HTTP_PROXY: P }, P],
    ['http://a.test/', { http_proxy: P }, P],
    ['http://a.test/', { http_proxy: P, HTTP_PROXY: 'http://other.test' }, P],
    ['http://a.test/', { https_proxy: P }, null],
    ['https://a.test/', { HTTPS_PROXY: P }, P],
    ['https://a.test/', { HTTP_PROXY: P }, null],
    ['https://a.test/', { ALL_PROXY: P }, P],
    ['http://a.test/', { all_proxy: P, ALL_PROXY: 'http://other.test' }, P],
    ['http://a.test/', { all_proxy: 'http://other.test', http_proxy: P }, P],
    ['http://a.test/', { http_proxy: 'proxy.test:3128' }, P],
    ['http://a.test/', { http_proxy: '', HTTP_PROXY: P }, null],
    ['http://a.test/', { http_proxy: 'http://[' }, undefined as never],
  ])('for %s and %j is %j [WEB-9] [field D8]', (url, environment, expected) => {
    expect(proxyOf(url, environment)).toBe(expected);
  });

  it.each<[string, string, boolean]>([
    ['http://a.test/', '*', true],
    ['http://a.test/', 'a.test', true],
    ['http://A.TEST/', 'a.Test', true],
    ['http://b.a.test/', 'a.test', true],
    ['http://b.a.test/', '.a.test', true],
    ['http://b.a.test/', '*.a.test', true],
    ['http://ba.test/', 'a.test', false],
    ['http://a.test./', 'a.test', true],
    ['http://x.local/', '127.0.0.1,.local', true],
    ['http://127.0.0.1:81/', '127.0.0.1 , .local', true],
    ['http://127.0.0.10/', '27.0.0.10', false],
    ['http://a.test/', 'a.test:80', true],
    ['https://a.test/', 'a.test:80', false],
    ['https://a.test/', 'a.test:443', true],
    ['http://a.test:8080/', '.test:8080', true],
    ['http://[::1]:3000/', '::1', true],
    ['http://[::1]:3000/', '[::1]:3000', true],
    ['http://10.1.2.3/', '10.0.0.0/8', true],
    ['http://11.1.2.3/', '10.0.0.0/8', false],
    ['http://[fd00::1]/', 'fd00::/8', true],
    ['http://a.test/', '10.0.0.0/99,,  ,/', false],
  ])('sends %s past the proxy for NO_PROXY=%s: %j [WEB-9] [field D8]', (url, exceptions, isDirect) => {
    const lower = proxyOf(url, { ALL_PROXY: P, no_proxy: exceptions, NO_PROXY: 'unrelated.test' });
    const upper = proxyOf(url, { ALL_PROXY: P, NO_PROXY: exceptions });
    expect([lower, upper]).toEqual(isDirect ? [null, null] : [P, P]);
  });
});
