import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { JsonValue } from '@agentd/contract';
import type { NamedTarget, ToolListCache } from '../ports.ts';
import { readPrivateJson, writePrivateJson } from './private-json.ts';

/** Keeps tool lists as files of a folder, one a server; another command or address under the same name is another one. */
export function fileToolLists({ folder }: { readonly folder: string }): ToolListCache {
  const pathOf = (server: NamedTarget): string => join(folder, `${keyOf(server)}.json`);
  return {
    read: async (server) => {
      const tools = (await readPrivateJson(pathOf(server)))?.['tools'];
      return Array.isArray(tools) ? tools : null;
    },
    write: async (server, tools) => {
      // Without it a lazy server is eager once more, and nothing else.
      await writePrivateJson(pathOf(server), { tools: tools as JsonValue[] }).catch(() => undefined);
    },
  };
}

function keyOf({ name, target }: NamedTarget): string {
  const identity = target.kind === 'stdio' ? [target.command, ...target.args] : [target.url];
  const digest = createHash('sha256')
    .update(JSON.stringify([name, target.kind, ...identity]))
    .digest('hex');
  return `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)}-${digest.slice(0, 16)}`;
}
