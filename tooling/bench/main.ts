// `npm run bench [-- NAME …]`: speed as ratios, each pair measured in turn in one run on one machine.
import { adaptorImports } from './src/adaptor-imports.ts';
import { janitor, randomPages, smallResults } from './src/artifact-store.ts';
import { capture, captureOneGibibyte } from './src/capture.ts';
import { bashCalls, editLarge, readPage, renderPage } from './src/core-tools.ts';
import { imageRequest } from './src/image-request.ts';
import { mcp } from './src/mcp.ts';
import { media } from './src/media.ts';
import { startUp } from './src/start-up.ts';
import { messages, subagentResult, subagents } from './src/tree.ts';
import { turnAround } from './src/turn-around.ts';

const benches: Readonly<Record<string, () => Promise<readonly string[]>>> = {
  'turn-around': turnAround,
  messages,
  subagents,
  'subagent-result': subagentResult,
  'start-up': startUp,
  capture,
  'capture-1g': captureOneGibibyte,
  'small-results': smallResults,
  'random-pages': randomPages,
  janitor,
  'read-page': readPage,
  'edit-large': editLarge,
  'bash-calls': bashCalls,
  'render-page': renderPage,
  media,
  mcp,
  'image-request': imageRequest,
  'adaptor-imports': adaptorImports,
};

const asked = process.argv.slice(2).filter((name) => name !== '--');
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`unknown benchmark ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
for (const [name, run] of Object.entries(benches)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(name);
  for (const line of await run()) console.log(`  ${line}`);
}
