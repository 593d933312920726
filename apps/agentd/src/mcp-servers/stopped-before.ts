import type { Engine } from '@agentd/engine';
import type { McpBridge } from '@agentd/mcp-bridge';

/** Servers are ended last: a call that is being cancelled still tells its server. */
export function stoppedBefore(engine: Engine, bridge: McpBridge | null): Engine {
  const stop = async (): Promise<void> => {
    try {
      await engine.stop();
    } finally {
      await bridge?.close();
    }
  };
  return { ...engine, stop };
}
