import type { Tool, ToolProvider } from '@agentd/contract';
import { createBashTool, type BashPorts } from './bash/bash-tool.ts';
import { createEditTool } from './mutate/edit-tool.ts';
import { createReadTool } from './read/read-tool.ts';
import { createWriteTool } from './mutate/write-tool.ts';
import type { FileToolPorts } from './ports.ts';
import { createWebfetchTool, type WebfetchPorts } from './webfetch/webfetch-tool.ts';

/** What the five tools ask of their surroundings. */
export interface CoreToolPorts extends FileToolPorts, BashPorts, WebfetchPorts {}

/** `read`, `write`, `edit`, `bash`, `webfetch`, in this order. */
export function createCoreTools(ports: CoreToolPorts): readonly Tool[] {
  return [
    createReadTool(ports),
    createWriteTool(ports),
    createEditTool(ports),
    createBashTool(ports),
    createWebfetchTool(ports),
  ];
}

/** The five tools as the engine takes them, under the id `builtin.tools`. */
export function coreToolProvider(ports: CoreToolPorts): ToolProvider {
  const tools = createCoreTools(ports);
  return { id: 'builtin.tools', tools: async () => tools };
}
