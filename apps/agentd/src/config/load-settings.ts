import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, messageOf } from '@agentd/contract';
import { setUpError } from '../faults.ts';
import { readCatalogue } from '../models/catalogue-file.ts';
import { layerSchema, type ConfigLayer } from './config-schema.ts';
import { checkReferences } from './env-references.ts';
import { mergeLayers } from './merge-layers.ts';
import { checked } from './schema-problems.ts';
import { settingsOf, type Settings } from './settings.ts';
import { parseToml } from './toml-document.ts';

export interface SettingsPlaces {
  /** The user's `config.toml`; missing counts as empty. */
  readonly userFile: string;
  /** Replaces the user's file and must exist (`--config`). */
  readonly explicitFile: string | null;
  /** The workspace's `.agentd/config.toml`; null where it does not count (PERM-11). */
  readonly workspaceFile: string | null;
  /** What `models refresh` keeps; missing counts as nothing. */
  readonly catalogueFile: string;
}

export function userConfigFile(home: string): string {
  return join(home, 'config.toml');
}

export function workspaceConfigFile(workspace: string): string {
  return join(workspace, '.agentd', 'config.toml');
}

/** Reads the layers and lays them over each other (CFG-1). Contract: throws a file problem for anything that is not right. */
export async function loadSettings({
  userFile,
  explicitFile,
  workspaceFile,
  catalogueFile,
}: SettingsPlaces): Promise<Settings> {
  const user = await readLayer(explicitFile ?? userFile);
  if (user === null && explicitFile !== null)
    throw setUpError(`${explicitFile}: there is no such file (--config)`);
  const workspace = workspaceFile === null ? null : await readLayer(workspaceFile);
  const refreshed = await readCatalogue(catalogueFile);
  return settingsOf(mergeLayers(user ?? {}, workspace ?? {}), refreshed?.models);
}

/** One file's settings; null when there is no such file. */
async function readLayer(file: string): Promise<ConfigLayer | null> {
  const text = await readConfigText(file);
  return text === null ? null : parseLayer(file, text);
}

/** Contract: throws a file problem for a syntax error, an unknown key, a wrong type or a bad value (CFG-2). */
export function parseLayer(file: string, text: string): ConfigLayer {
  const document = parseToml(file, text);
  const layer = checked(document, layerSchema);
  checkReferences(document);
  return { ...layer, ...withScripts(layer, dirname(resolve(file))) };
}

/** A script's path starts at the folder of the file that names it. */
function withScripts({ providers }: ConfigLayer, folder: string): Pick<ConfigLayer, 'providers'> {
  const resolved = Object.entries(providers ?? {}).map(([id, table]) => {
    const { script } = table;
    return [id, script === undefined ? table : { ...table, script: resolve(folder, script) }] as const;
  });
  return { providers: Object.fromEntries(resolved) };
}

async function readConfigText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw setUpError(`${file}: cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
