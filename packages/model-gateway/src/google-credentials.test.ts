import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { createModelGateway } from './gateway.ts';
import { collect, failureOf, textOf, useModelServer } from './testing/bench.ts';
import { geminiTurn, hangAfter, httpError } from './testing/index.ts';

const { server } = useModelServer({ beforeEach, afterEach });

// Google's library would go through the proxy of the machine, also to a server of ours.
for (const name of ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY']) delete process.env[name];

const ROOM: { folder: string } = { folder: '' };
beforeEach(async () => {
  ROOM.folder = await mkdtemp(join(tmpdir(), 'credentials-'));
});
afterEach(async () => {
  delete process.env['GOOGLE_APPLICATION_CREDENTIALS'];
  await rm(ROOM.folder, { recursive: true });
});

/** Credentials of a workload elsewhere: a token of its own, exchanged at a server of ours. */
async function useCredentials(): Promise<void> {
  const subject = join(ROOM.folder, 'subject-token');
  await writeFile(subject, 'a-subject-token');
  const file = join(ROOM.folder, 'credentials.json');
  const credentials = {
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${server().url}/token`,
    credential_source: { file: subject },
  };
  await writeFile(file, JSON.stringify(credentials));
  process.env['GOOGLE_APPLICATION_CREDENTIALS'] = file;
}

/** A model of Vertex whose requests end at the server. */
async function vertex() {
  const toServer: typeof fetch = (input, init) => {
    const { pathname, search } = new URL(new Request(input).url);
    return fetch(`${server().url}${pathname}${search}`, init);
  };
  return createModelGateway({
    providers: {},
    environment: { GOOGLE_VERTEX_PROJECT: 'my-project', GOOGLE_VERTEX_LOCATION: 'europe-west4' },
    clock: systemClock,
    fetch: toServer,
  }).open('google-vertex/gemini-3.8-flash');
}

const token = (expires: number) =>
  httpError(200, { access_token: 'ya29.token', expires_in: expires, token_type: 'Bearer' });

describe('Vertex without key and token', () => {
  it('asks with a token of the Application Default Credentials, and keeps it [CFG-5]', async () => {
    await useCredentials();
    server().reply(token(3600), geminiTurn({ text: 'one' }), geminiTurn({ text: 'two' }));
    const model = await vertex();
    expect(server().requests).toHaveLength(0);
    expect(textOf(await collect(model))).toBe('one');
    expect(textOf(await collect(model))).toBe('two');
    const [exchange, ...asked] = server().requests;
    expect(exchange?.path).toBe('/token');
    expect(asked.map(({ path }) => path)).toEqual(
      Array.from(
        { length: 2 },
        () =>
          '/v1beta1/projects/my-project/locations/europe-west4/publishers/google/models/gemini-3.8-flash:streamGenerateContent?alt=sse',
      ),
    );
    expect(asked.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer ya29.token',
      'Bearer ya29.token',
    ]);
  });

  it('says what is wrong with them in one line, and looks again the next time [CFG-5] [SES-9]', async () => {
    process.env['GOOGLE_APPLICATION_CREDENTIALS'] = join(ROOM.folder, 'none.json');
    const model = await vertex();
    const { error } = await failureOf(model);
    expect(error).toMatchObject({
      code: 'MODEL_AUTH',
      message: expect.stringMatching(
        /^the Application Default Credentials .*; set GOOGLE_APPLICATION_CREDENTIALS/,
      ),
    });
    expect((error as Error).message).not.toContain('\n');
    await useCredentials();
    server().reply(token(3600), geminiTurn({ text: 'now' }));
    expect(textOf(await collect(model))).toBe('now');
  });

  it('waits for no token after an abort, and asks nothing then [CFG-5]', async () => {
    await useCredentials();
    server().reply(hangAfter(token(3600), 0));
    const model = await vertex();
    const abort = new AbortController();
    const failure = failureOf(model, undefined, abort.signal);
    expect((await server().arrived(0)).path).toBe('/token');
    const reason = new Error('the user left');
    abort.abort(reason);
    expect((await failure).error).toBe(reason);
    expect(server().requests).toHaveLength(1);
  });
});
