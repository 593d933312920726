import { openServers } from '../../compose.ts';
import { openInBrowser } from '../../mcp-servers/open-in-browser.ts';
import { EXIT } from '../../exit-codes.ts';
import { setUpError } from '../../faults.ts';
import { prepareHome } from '../../home/home.ts';
import { situate } from '../../situation.ts';
import { counted } from '../counted.ts';
import { onInterruption } from '../interruption.ts';
import type { PlaceOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

/** A user who has gone away does not come back to a page. */
const PATIENCE_MS = 5 * 60_000;

/** `mcp-servers auth`: lets the user authorize agentd with a remote server, and keeps the tokens (MCP-6). */
export async function authorizeMcpServer(
  name: string,
  options: PlaceOptions,
  screen: Screen,
): Promise<number> {
  const situation = await situate(options);
  if (situation.skipped !== null) screen.tell(situation.skipped);
  const bridge = openServers(situation);
  if (bridge === null) throw setUpError(`no MCP server "${name}": none is configured`);
  using interruption = onInterruption();
  const signal = AbortSignal.any([interruption.signal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    await prepareHome(situation.home);
    const open = async (url: URL): Promise<void> => {
      screen.tell(`open this address to authorize agentd with ${name}:\n${url.href}`);
      openInBrowser(url);
    };
    await bridge.authorize(name, { open }, signal);
    const status = bridge.statuses().find((each) => each.name === name);
    screen.print(
      `${name}: ${status?.problem ?? `${status?.state}, ${counted(status?.tools ?? 0, 'tool')}`}\n`,
    );
    return status?.problem === null ? EXIT.completed : EXIT.failed;
  } catch (error) {
    if (interruption.signal.aborted) return EXIT.cancelled;
    throw error;
  } finally {
    await bridge.close();
  }
}
