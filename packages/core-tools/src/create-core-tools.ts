import { homedir } from 'node:os';
import { systemClock, type Tool, type ToolProvider } from '@agentd/contract';
import { createBashTool, type BashPorts } from './bash/bash-tool.ts';
import { createEditTool } from './mutate/edit-tool.ts';
import { createReadTool } from './read/read-tool.ts';
import { createWriteTool } from './mutate/write-tool.ts';
import type { FileToolPorts } from './ports.ts';
import { createWebfetchTool, type WebfetchPorts } from './webfetch/webfetch-tool.ts';

/** What the five tools ask of their surroundings. */
export interface CoreToolPorts extends FileToolPorts, BashPorts, WebfetchPorts {}

/** The machine as it is: nothing retained or attached, no stages on record, the whole environment for commands. */
function machinePorts(): CoreToolPorts {
  return {
    artifacts: null,
    media: null,
    stages: null,
    home: homedir(),
    environment: process.env,
    withheld: [],
    clock: systemClock,
  };
}

/** `read`, `write`, `edit`, `bash`, `webfetch`, in this order. A port that is left out is the machine's own. */
export function createCoreTools(ports: Partial<CoreToolPorts> = {}): readonly Tool[] {
  const whole = { ...machinePorts(), ...ports };
  return [
    createReadTool(whole),
    createWriteTool(whole),
    createEditTool(whole),
    createBashTool(whole),
    createWebfetchTool(whole),
  ];
}

/** The five tools as the engine takes them, under the id `builtin.tools`. */
export function coreToolProvider(ports: Partial<CoreToolPorts> = {}): ToolProvider {
  const tools = createCoreTools(ports);
  return { id: 'builtin.tools', tools: async () => tools };
}
