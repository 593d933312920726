import { MAX_RESULT_BYTES, type OutputCapture, type ToolError } from '@agentd/contract';
import { callError } from './call-fault.ts';

/** Holds the output of a tool that pages itself (OUT-17). */
export interface PageCapture extends OutputCapture {
  /** What is wrong with the page: one over 2 MiB is refused, never cut (OUT-20). */
  readonly problem: () => ToolError | null;
}

/** Text comes back as it was given: no store, no preview, no artifact. A page over the bound takes no memory. */
export function pageCapture(): PageCapture {
  let text = '';
  let bytes = 0;
  return {
    accept: async (chunks) => {
      for (const chunk of chunks) {
        bytes += Buffer.byteLength(chunk.text);
        text = bytes > MAX_RESULT_BYTES ? '' : text + chunk.text;
      }
    },
    finish: async () => ({ text, retained: null, release: async () => undefined }),
    discard: async () => undefined,
    problem: () =>
      bytes <= MAX_RESULT_BYTES
        ? null
        : callError(
            'resource_limit',
            `the page has ${bytes} bytes, over the limit of ${MAX_RESULT_BYTES}; ask again with a smaller limit`,
          ),
  };
}
