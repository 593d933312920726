import { describe, expect, it } from '@jest/globals';
import * as surface from './index.ts';
import * as testing from './testing/index.ts';

describe('the public surface', () => {
  it('exports exactly these values', () => {
    expect(Object.keys(surface).toSorted()).toEqual([
      'ARTIFACT_SCHEME',
      'AgentdError',
      'DEFAULT_OUTPUT_LIMITS',
      'MAX_OUTPUT_STREAMS',
      'MAX_RESULT_BYTES',
      'PERMISSION_ACTIONS',
      'codeOf',
      'declarationProblem',
      'defineTool',
      'isAgentdError',
      'isJsonObject',
      'isModelError',
      'isStreamName',
      'isUuid',
      'messageOf',
      'modelError',
      'pause',
      'randomIds',
      'streamsOf',
      'systemClock',
      'toolError',
      'unknownSubagent',
      'unreachable',
    ]);
  });

  it('gives tests exactly these values', () => {
    expect(Object.keys(testing).toSorted()).toEqual([
      'countingIds',
      'deferred',
      'fileLockCases',
      'flush',
      'manualClock',
      'memoryOutputStore',
      'processorMs',
      'sequenceModel',
      'turnParts',
    ]);
  });
});
