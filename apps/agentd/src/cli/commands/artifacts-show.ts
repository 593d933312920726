import { codeOf, type ArtifactPage, type ArtifactReader } from '@agentd/contract';
import { openArtifacts } from '../../compose.ts';
import { EXIT } from '../../exit-codes.ts';
import { notFoundError } from '../../faults.ts';
import { homeFolder, realWorkspace } from '../../home/home.ts';
import { projectOf, projectsOf, type Project } from '../../home/project.ts';
import type { DataOptions } from '../options.ts';
import type { Screen } from '../screen.ts';

export interface ArtifactOptions extends DataOptions {
  readonly home?: string;
  readonly cwd?: string;
  readonly offset?: number;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 2000;

/** `artifacts show URI`: a page of stored output, as it is (ART-4), from whichever project has it. */
export async function showArtifact(uri: string, options: ArtifactOptions, screen: Screen): Promise<number> {
  const { offset = 0, limit = DEFAULT_LIMIT } = options;
  const home = homeFolder(options.home, process.env);
  // An address reads the same in every store, also where there is none yet.
  const address = openArtifacts(projectOf(home, home)).parse(uri);
  const projects =
    options.cwd === undefined ? await projectsOf(home) : [projectOf(home, await realWorkspace(options.cwd))];
  const page = await pageFrom(projects, (reader) => reader.page({ address, offset, limit }, screen.closed));
  if (page === null) throw notFoundError(`${uri} is stored in no project of ${home}`);
  if (options.json === true) {
    screen.print(`${JSON.stringify({ text: page.text, next_offset: page.nextOffset })}\n`);
    return EXIT.completed;
  }
  screen.show(page.text);
  if (page.nextOffset !== null) screen.tell(`more: --offset ${page.nextOffset}`);
  return EXIT.completed;
}

/**
 * Equal output has an equal name, so the first project that can show it will do; where none can, the first reason
 * that says more than that it is not there.
 */
async function pageFrom(
  projects: readonly Project[],
  read: (reader: ArtifactReader) => Promise<ArtifactPage>,
): Promise<ArtifactPage | null> {
  const faults: unknown[] = [];
  for (const project of projects) {
    try {
      return await read(openArtifacts(project));
    } catch (error) {
      if (codeOf(error) !== 'artifact_missing') faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
  return null;
}
