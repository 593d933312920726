import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { isJsonObject, type JsonObject } from '@agentd/contract';
import type { Adaptor, AdaptorSetup } from './adaptor.ts';
import { repairBedrockEvents } from './wire/bedrock-repair.ts';
import { credentialFetch } from './wire/credential-fetch.ts';
import { framesFetch } from './wire/event-frames.ts';
import { languageModelClient } from './wire/language-model-client.ts';

const CACHE_MARK = { bedrock: { cachePoint: { type: 'default' } } };

/** Models that know cache points; the others refuse a request with one. */
const CACHES =
  /anthropic\.claude-(?:[a-z]+-\d|3-7-|3-5-haiku|3-5-sonnet-20241022)|amazon\.nova-(?:micro|lite|pro|premier)/;

/** Converse of Amazon Bedrock. */
export const awsBedrockConverse: Adaptor = {
  open: (setup) => {
    const { info } = setup;
    return languageModelClient(setup, {
      model: providerOf(setup)(info.model),
      shape: {
        modelId: info.id,
        ...(CACHES.test(info.model) ? { cacheMark: CACHE_MARK } : {}),
        replays: ({ provider_data }) => isSigned(provider_data),
        needsTools: true,
      },
      needsOutputLimit: false,
    });
  },
};

/** Every setting is given: what is left out, the package takes from the environment. */
function providerOf({ endpoint, ...setup }: AdaptorSetup) {
  const { baseUrl: baseURL, credential, region = 'us-east-1' } = endpoint;
  const fetch = framesFetch(setup.fetch, { marker: '"toolUse"', repair: repairBedrockEvents });
  if (credential?.kind !== 'aws') {
    // The package signs where it has no key, so it gets one, and the real one is put in later.
    return createAmazonBedrock({
      baseURL,
      region,
      apiKey: 'put in later',
      fetch: credentialFetch(fetch, endpoint),
    });
  }
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  const headers = { ...endpoint.headers };
  const credentialProvider = async () => ({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
  return createAmazonBedrock({ baseURL, region, apiKey: '', headers, credentialProvider, fetch });
}

/** Reasoning without the signature that came with it is refused. */
function isSigned(data: JsonObject | undefined): boolean {
  const own = data?.['bedrock'];
  if (!isJsonObject(own)) return false;
  return ['signature', 'redactedData', 'redactedContent'].some((name) => typeof own[name] === 'string');
}
