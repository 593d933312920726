import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../../..');

async function inScratch(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'agentd-checkout-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function servingPage(html: string, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end(html),
  );
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

describe('a checkout', () => {
  it('runs agentd through npm, with nothing but its output on stdout, in the folder where npm was called [CLI-7]', async () => {
    await inScratch(async (home) => {
      const { INIT_CWD: _npm, ...env } = process.env;
      const npm = (...args: readonly string[]) =>
        run('npm', ['run', '-s', 'agentd', '--', ...args], { cwd: ROOT, env: { ...env, AGENTD_HOME: home } });
      const { stdout } = await npm('tools', 'list', '--json');
      expect((JSON.parse(stdout) as { readonly name: string }[]).map(({ name }) => name)).toContain('read');
      await expect(npm('run', '--nonsense')).rejects.toMatchObject({ code: 2, stdout: '' });
      const listed = await npm('tools', 'call', 'read', '{"filePath":"."}');
      expect(listed.stdout).toContain(`<path>${ROOT}</path>`);
    });
  });

  it('writes a binary that runs with neither node_modules nor an environment [CLI-7]', async () => {
    await run('npm', ['run', '-s', 'bundle'], { cwd: ROOT });
    await inScratch(async (folder) => {
      const binary = join(folder, 'agentd');
      await copyFile(join(ROOT, 'dist/agentd'), binary);
      await mkdir(join(folder, 'work'));
      await writeFile(join(folder, 'work', 'note.txt'), 'kept by nobody else\n');
      const env = { PATH: '/usr/bin:/bin', HOME: folder };
      const { stdout } = await run(binary, ['tools', 'call', 'read', '{"filePath":"note.txt"}'], {
        cwd: join(folder, 'work'),
        env,
      });
      expect(stdout).toContain('1: kept by nobody else');
      // Locks, the exchange of files and the rendering of pages need what lies in files of its own in a checkout.
      const edit = { filePath: 'note.txt', oldString: 'nobody', newString: 'somebody' };
      const edited = await run(binary, ['tools', 'call', 'edit', JSON.stringify(edit), '--mode', 'yolo'], {
        cwd: join(folder, 'work'),
        env,
      });
      expect(edited.stdout).toContain('Edited note.txt');
      await servingPage('<h1>Hi</h1><p>a <a href="/x">link</a></p>', async (url) => {
        const fetched = await run(
          binary,
          ['tools', 'call', 'webfetch', JSON.stringify({ url }), '--mode', 'yolo'],
          {
            cwd: join(folder, 'work'),
            env,
          },
        );
        expect(fetched.stdout).toContain(`# Hi\n\na link [${url}x]`);
      });
      const listed = await run(binary, ['sessions', 'list', '--json'], { cwd: folder, env });
      expect(listed.stdout).toContain(join(folder, 'work'));
    });
  });
});
