import type { Tool, ToolProvider } from '@agentd/contract';
import { inArrivalOrder } from '@agentd/core-tools/mcp';

/** Of all providers the tools of these names, for calls that come without turns. */
export function servedProviders(
  providers: readonly ToolProvider[],
  names: readonly string[],
): readonly ToolProvider[] {
  return providers
    .filter(({ id }) => id === 'builtin.tools')
    .map((provider) => {
      // One set for all sessions: calls on one file wait for each other, whichever session they are in.
      let served: Promise<readonly Tool[]> | undefined;
      const tools: ToolProvider['tools'] = (session) => {
        served ??= provider
          .tools(session)
          .then((tools) => inArrivalOrder(tools.filter(({ spec }) => names.includes(spec.name))));
        return served;
      };
      return { id: provider.id, tools };
    });
}
