import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rm } from 'node:fs/promises';
import {
  bedrockTurn,
  cohereTurn,
  geminiTurn,
  responsesTurn,
  startModelServer,
  type CannedReply,
  type ModelServer,
} from '@agentd/model-gateway/testing';
import { Workbench } from './workbench.ts';

let bench: Workbench;
let server: ModelServer;
beforeAll(async () => (bench = await Workbench.create()));
afterAll(async () => bench[Symbol.asyncDispose]());
beforeEach(async () => {
  server = await startModelServer();
});
afterEach(async () => {
  await server.close();
  await rm(bench.home, { recursive: true, force: true });
});

/** Each of these is a wire of its own, with the settings that only it takes. */
const PLATFORMS: readonly (readonly [adaptor: string, settings: string, turn: CallTurn])[] = [
  [
    'aws-bedrock-converse',
    'region = "eu-west-1"\naccess_key_id = "${env:OWN_ID}"\nsecret_access_key = "${env:OWN_SECRET}"',
    bedrockTurn,
  ],
  ['azure-openai-responses', 'api_version = "preview"\napi_key = "${env:OWN_SECRET}"', responsesTurn],
  ['google-vertex-gemini', 'project = "my-project"\naccess_token = "${env:OWN_SECRET}"', geminiTurn],
  ['cohere-v2-chat', 'api_key = "${env:OWN_SECRET}"', cohereTurn],
];

type CallTurn = (turn: {
  readonly text?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: object }[];
}) => CannedReply;

describe('a run over a cloud’s own wire', () => {
  it.each(PLATFORMS)(
    'lists a folder and answers: %s [CFG-5] [CFG-6] [BASH-2]',
    async (adaptor, settings, turn) => {
      await bench.write(
        'home/config.toml',
        `model = "own/m"\n[providers.own]\nadaptor = "${adaptor}"\nbase_url = "${server.url}/v1"\n${settings}\n`,
      );
      await bench.write('ws/größe.txt', '');
      const env = { OWN_ID: 'AKIDOWNIDENTITY', OWN_SECRET: 'own-secret-value' };
      server.reply(
        turn({
          calls: [
            { id: 'c1', name: 'read', args: { filePath: '.' } },
            { id: 'c2', name: 'bash', args: { command: 'echo "<$OWN_SECRET>"' } },
          ],
        }),
        turn({ text: 'größe.txt 🙂' }),
      );
      const { stdout, stderr, code } = await bench.run(['run', 'go', '--mode', 'yolo'], { env });
      expect({ stdout, stderr, code }).toEqual({ stdout: 'größe.txt 🙂\n', stderr: '', code: 0 });
      const asked = JSON.stringify(server.requests[1]?.body);
      expect(asked).toContain('größe.txt');
      expect(asked).toContain('<>');
      expect(asked).not.toContain('own-secret-value');
    },
  );

  it('may take credentials from the environment, and nothing else [CFG-2] [CFG-4]', async () => {
    await bench.write(
      'home/config.toml',
      'model = "own/m"\n[providers.own]\nadaptor = "aws-bedrock-converse"\nregion = "${env:AWS_REGION}"\n',
    );
    const { code, stderr } = await bench.run(['run', 'go']);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(
      /config\.toml:4:1: providers\.own\.region: \$\{env:NAME\} may stand only in credential/,
    );
  });

  it('is listed with what it still needs [CFG-5]', async () => {
    const env = { AZURE_API_KEY: 'k', COHERE_API_KEY: 'k' };
    const table = (await bench.run(['models', 'list'], { env })).stdout;
    expect(table).toMatch(/^azure +azure-openai-responses +.*AZURE_RESOURCE_NAME/m);
    const { stdout } = await bench.run(['models', 'list', '--json'], { env });
    const { providers } = JSON.parse(stdout) as {
      providers: { provider: string; adaptor: string; usable: string | null }[];
    };
    const told = (id: string) => providers.find(({ provider }) => provider === id);
    expect(told('cohere')).toMatchObject({ adaptor: 'cohere-v2-chat', usable: null });
    expect(told('azure')?.usable).toContain('AZURE_RESOURCE_NAME');
    expect(told('amazon-bedrock')?.usable).toContain('AWS_BEARER_TOKEN_BEDROCK');
    expect(told('openai')).toMatchObject({ adaptor: 'openai-responses' });
  });
});
