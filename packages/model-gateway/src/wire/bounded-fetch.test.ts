import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '@agentd/contract';
import { createModelGateway } from '../gateway.ts';
import { httpError } from '../testing/canned-reply.ts';
import { collect, failureOf, request, textOf, useModelServer } from '../testing/bench.ts';
import { WIRES, WIRE_ADAPTORS } from '../testing/wires.ts';
import { boundedFetch } from './bounded-fetch.ts';

const { server } = useModelServer({ beforeEach, afterEach });

/** A client whose answers may have so many bytes. */
const clientOf = (adaptor: (typeof WIRE_ADAPTORS)[number], maxBytes: number) =>
  createModelGateway({
    providers: { local: { adaptor, baseUrl: `${server().url}/v1`, ...WIRES[adaptor].settings } },
    environment: {},
    clock: systemClock,
    fetch: boundedFetch(globalThis.fetch, maxBytes),
  }).open(`local/${WIRES[adaptor].model}`);

describe('an answer that is too long', () => {
  it.each(WIRE_ADAPTORS)('ends the attempt over %s [SES-9]', async (adaptor) => {
    const reply = WIRES[adaptor].turn({ text: 'x'.repeat(200_000) });
    server().reply(reply, reply);
    const client = await clientOf(adaptor, 150_000);
    const { error } = await failureOf(client);
    expect(error).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringMatching(/broke off|failed/),
    });
    expect(textOf(await collect(await clientOf(adaptor, 5_000_000))).length).toBe(200_000);
  });

  it('is a fault of the server where it is an error page as well [SES-9]', async () => {
    server().reply(httpError(500, 'x'.repeat(300_000)));
    const { error } = await failureOf(await clientOf('anthropic', 1000), request());
    expect(error).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });
});

describe('an answer of Bedrock that is no stream of events', () => {
  it('ends the attempt at once, however long it goes on [SES-9]', async () => {
    const type = { 'content-type': 'application/vnd.amazon.eventstream' };
    server().reply({ status: 200, headers: type, body: 'x'.repeat(1_000_000) });
    const { error } = await failureOf(await clientOf('aws-bedrock-converse', 2_000_000));
    expect(error).toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringMatching(/broke off: NO_EVENT_STREAM$/),
    });
  });
});
