import { describe, it } from '@jest/globals';
import { world } from '../test/world.ts';
import { sessionHostCases } from './host-cases.ts';

describe('MemoryHost keeps the contract of a host', () => {
  it.each(sessionHostCases)('$name [DLG-11]', async ({ run }) => {
    const { host } = world();
    await run({
      host,
      root: await host.addRoot('lead'),
      stranger: await host.addRoot('lead'),
      agent: 'explore',
      end: async (sessionId, text) => {
        host.say(sessionId, text);
        await host.end(sessionId, text);
      },
      stop: () => host.stop(),
    });
  });
});
