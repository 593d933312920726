import { spawn } from 'node:child_process';

/** Opens a page where there is a desktop to open it on; elsewhere the user has the address. */
export function openInBrowser(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  const isLinux = process.platform === 'linux';
  const hasDesktop = process.env['DISPLAY'] !== undefined || process.env['WAYLAND_DISPLAY'] !== undefined;
  if (isLinux && !hasDesktop) return;
  const command = process.platform === 'darwin' ? 'open' : 'xdg-open';
  const child = spawn(command, [url.href], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
}
