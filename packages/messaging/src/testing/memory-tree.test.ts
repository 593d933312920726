import { describe, it } from '@jest/globals';
import { memoryLog } from './memory-log.ts';
import { memoryTree } from './memory-tree.ts';
import { inboxLogCases, messagingPortCases } from './port-cases.ts';

describe('memoryLog keeps the contract of a log', () => {
  it.each(inboxLogCases)('$name [MSG-2]', ({ run }) => {
    const log = memoryLog('s');
    return run({ log, afterCrash: async () => log.synced() });
  });
});

describe('memoryTree keeps the contract of the ports', () => {
  it.each(messagingPortCases)('$name [MSG-2]', ({ run }) => {
    const tree = memoryTree();
    const parent = tree.add({ agent: 'lead' });
    const child = tree.add({ agent: 'explore', parent });
    const stranger = tree.add({ agent: 'lead' });
    return run({
      ports: tree.ports,
      parent,
      child,
      stranger,
      removeChild: async () => tree.remove(child.sessionId),
      stop: async () => tree.stop(),
    });
  });
});
