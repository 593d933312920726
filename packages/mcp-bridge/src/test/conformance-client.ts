// The client under test of the official conformance suite: the bridge itself. Run as: node conformance-client.ts URL
import { systemClock } from '@agentd/contract';
import { createMcpBridge } from '../create-mcp-bridge.ts';
import { sdkConnector } from '../sdk/sdk-connector.ts';
import { memoryCredentials } from '../testing/memory-credentials.ts';

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
}

const NAME = 'peer';
const NEVER = new AbortController().signal;
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const { client_id: clientId, client_secret: clientSecret } = context;
const session = { id: 's', cwd: '/', agent: 'a' };

const bridge = createMcpBridge(
  {
    clock: systemClock,
    connector: sdkConnector({
      clock: systemClock,
      credentials: memoryCredentials(),
      client: { name: 'agentd', version: '0.0.0' },
      // A user who takes every form as it is: what it leaves open are the defaults.
      elicit: async () => ({ action: 'accept', content: {} }),
    }),
    media: null,
    lists: null,
  },
  {
    servers: {
      [NAME]: {
        target: {
          kind: 'http',
          url: process.argv.at(-1) ?? '',
          headers: {},
          oauth: {
            clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
            ...(clientId === undefined ? {} : { clientId }),
            ...(clientSecret === undefined ? {} : { clientSecret }),
          },
        },
        enabled: true,
        lazy: false,
        timeoutMs: 30_000,
      },
    },
    startupWaitMs: 30_000,
    toolTextBudgetTokens: 1_000_000,
    reservedNames: [],
  },
);

/** A user who always agrees: the browser follows the authorization server back to our address. */
async function open(url: URL): Promise<void> {
  const response = await fetch(url, { redirect: 'manual' });
  const back = response.headers.get('location');
  if (back !== null) await fetch(back);
}

const needsAuth = (): boolean => bridge.statuses()[0]?.state === 'needs_auth';

/** Does a work, and again after each authorization that it turns out to need; the bridge ends that at some point. */
async function withUser(work: () => Promise<void>): Promise<void> {
  for (;;) {
    await work();
    if (!needsAuth()) return;
    await bridge.authorize(NAME, { open }, NEVER);
  }
}

async function call(name: string): Promise<void> {
  const tool = (await bridge.refresh()).find(({ spec }) => spec.name === name);
  const args = name.endsWith('_add_numbers') ? { a: 5, b: 3 } : {};
  try {
    const prepared = await tool?.prepare(args, { callId: 'c', session, turn: {}, model: null }, NEVER);
    await prepared?.execute({ callId: 'c', report: async () => {}, stdin: null }, NEVER);
  } catch (error) {
    process.stderr.write(`${name}: ${String(error)}\n`);
  }
}

try {
  await withUser(async () => {
    await bridge.tools(session);
    await bridge.settled();
  });
  const tools = await bridge.refresh();
  if (scenario !== 'initialize') {
    for (const { spec } of tools) await withUser(() => call(spec.name));
  }
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
} finally {
  process.stderr.write(`${JSON.stringify(bridge.statuses())}\n`);
  await bridge.close();
}
