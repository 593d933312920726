import { describe, expect, it } from '@jest/globals';
import { CookieJar } from './cookie-jar.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');

function jarWith(...headers: readonly string[]): CookieJar {
  const jar = new CookieJar();
  jar.store(new URL('http://a.test/dir/page'), headers, NOW);
  return jar;
}

const cookiesAt = (jar: CookieJar, url: string): string | null => jar.headerFor(new URL(url));

describe('CookieJar', () => {
  it('sends cookies back to their folder and below [field D19]', () => {
    const jar = jarWith('a=b; HttpOnly', 'c=d=e; Path=/');
    expect(cookiesAt(jar, 'http://a.test/dir/other')).toBe('a=b; c=d=e');
    expect(cookiesAt(jar, 'http://a.test/directory')).toBe('c=d=e');
  });

  it.each(['http://b.test/dir/', 'http://a.test:81/dir/', 'https://a.test/dir/', 'http://sub.a.test/dir/'])(
    'keeps them from %s [field D10]',
    (url) => {
      expect(cookiesAt(jarWith('a=b; Domain=a.test; Path=/'), url)).toBeNull();
    },
  );

  it('replaces and removes what the server says', () => {
    const jar = jarWith('a=1; Path=/', 'a=2; Path=/', 'gone=1; Path=/', 'old=1; Path=/');
    jar.store(
      new URL('http://a.test/'),
      ['gone=; Max-Age=0; Path=/', 'old=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/'],
      NOW,
    );
    expect(cookiesAt(jar, 'http://a.test/')).toBe('a=2');
  });

  it.each(['', '=x', 'noequals', ' =; Path=/'])('ignores the broken header %j', (header) => {
    expect(cookiesAt(jarWith(header), 'http://a.test/dir/')).toBeNull();
  });
});
