import { messageOf, type ToolError } from '@agentd/contract';
import { MAX_ARGUMENT_DEPTH } from '../tool-arguments.ts';
import { callError } from './call-fault.ts';

const ADVICE =
  'Make the call again with complete JSON; split a long text into smaller pieces, e.g. several calls.';

/**
 * What a model reads when its arguments are not one JSON object (ARG-3). `truncated` says that the turn ended at the output limit;
 * providers do not always tell, so a text that just stops is called cut off as well.
 */
export function malformedArguments(tool: string, rawInput: string, truncated: boolean): ToolError {
  const problem = jsonProblem(rawInput);
  if (problem === null) {
    const wanted = `one JSON object, nested at most ${MAX_ARGUMENT_DEPTH} levels deep`;
    const text = `the arguments of ${tool} must be ${wanted}. Nothing was run. Make the call again with such an object.`;
    return callError('invalid_arguments', text);
  }
  return callError(
    'invalid_arguments',
    `${brokenJson(tool, rawInput, { problem, truncated })}. Nothing was run. ${ADVICE}`,
  );
}

function brokenJson(
  tool: string,
  { length }: string,
  { problem, truncated }: { readonly problem: string; readonly truncated: boolean },
): string {
  if (truncated)
    return `the arguments of ${tool} were cut off by the output limit after ${length} characters`;
  if (/end of JSON input|Unterminated/i.test(problem)) {
    return `the arguments of ${tool} stop in mid-JSON after ${length} characters, as if cut off by the output limit`;
  }
  return `the arguments of ${tool} are not valid JSON (${problem}); they may have been cut off by the output limit`;
}

/** Null for text that is JSON: then it is no object, or one without measure. */
function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (thrown) {
    return messageOf(thrown);
  }
}
