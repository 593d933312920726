// Every line here is a promise to users.
export { coreToolProvider, createCoreTools } from './create-core-tools.ts';
export type { CoreToolPorts } from './create-core-tools.ts';
export { createBashTool } from './bash/bash-tool.ts';
export type { BashPorts } from './bash/bash-tool.ts';
export { guardProcess } from './bash/guard-process.ts';
export { createEditTool } from './mutate/edit-tool.ts';
export { createReadTool } from './read/read-tool.ts';
export type { StartRenderWorker } from './webfetch/render/start-render-worker.ts';
export { createWebfetchTool } from './webfetch/webfetch-tool.ts';
export type { WebfetchLimits, WebfetchPorts } from './webfetch/webfetch-tool.ts';
export { createWriteTool } from './mutate/write-tool.ts';
export { fileStageJournal } from './mutate/stage-journal.ts';
export type { FileStageJournal, StageJournalPorts } from './mutate/stage-journal.ts';
export type { FileToolPorts, StageJournal, StageRecord } from './ports.ts';
