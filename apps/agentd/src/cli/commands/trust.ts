import { EXIT } from '../../exit-codes.ts';
import { homeFolder, prepareHome, realWorkspace } from '../../home/home.ts';
import { broughtBy } from '../../trust/brought-files.ts';
import { trustStore } from '../../trust/trust-store.ts';
import { counted } from '../counted.ts';
import type { DataOptions, PlaceOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

export interface TrustOptions extends Pick<PlaceOptions, 'home'>, DataOptions {
  readonly revoke?: boolean;
}

/** `trust`: what a workspace brings counts from now on, as long as it stays as it is (PERM-11). */
export async function trust(
  folder: string | undefined,
  options: TrustOptions,
  screen: Screen,
): Promise<number> {
  const home = homeFolder(options.home, process.env);
  const workspace = await realWorkspace(folder ?? process.cwd());
  const store = trustStore(home);
  if (options.revoke === true) {
    const wasTrusted = await store.revoke(workspace);
    screen.print(`${workspace} ${wasTrusted ? 'is no longer trusted' : 'was not trusted'}\n`);
    return EXIT.completed;
  }
  const brought = await broughtBy(workspace);
  if (brought === null) {
    screen.print(`${workspace} brings nothing that would have to be trusted\n`);
    return EXIT.completed;
  }
  await prepareHome(home);
  await store.trust(workspace, brought.digest);
  const { files, digest } = brought;
  if (options.json === true) screen.print(`${JSON.stringify({ workspace, files, digest }, null, 2)}\n`);
  else
    screen.show(
      `${files.join('\n')}\n${counted(files.length, 'file')} trusted as ${files.length === 1 ? 'it is' : 'they are'} in ${workspace}\n`,
    );
  return EXIT.completed;
}
