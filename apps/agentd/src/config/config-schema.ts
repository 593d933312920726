import { z } from 'zod';
import { ADAPTORS, PLATFORM_FIELDS, type AdaptorId, type PlatformSettings } from '@agentd/model-gateway';
import * as rule from './leaf-rules.ts';
import { mcpServer } from './mcp-server-schema.ts';

const MODALITIES = ['text', 'image', 'pdf', 'audio', 'video'] as const;

const mediaLimits = z.strictObject({
  max_bytes: rule.integer(1).optional(),
  max_count: rule.integer(1).optional(),
  max_pages: rule.integer(1).optional(),
});

const providerModel = z.strictObject({
  input: rule.listOf(MODALITIES).optional(),
  context_tokens: rule.integer(1).optional(),
  output_tokens: rule.integer(1).optional(),
  reasoning: rule.flag.optional(),
  media: z
    .strictObject({
      image: mediaLimits.optional(),
      pdf: mediaLimits.optional(),
      audio: mediaLimits.optional(),
      video: mediaLimits.optional(),
    })
    .optional(),
});

/** Settings of the clouds, as this file writes them and as the gateway takes them. */
export const PLATFORM_KEYS = {
  access_token: 'accessToken',
  region: 'region',
  access_key_id: 'accessKeyId',
  secret_access_key: 'secretAccessKey',
  session_token: 'sessionToken',
  resource_name: 'resourceName',
  api_version: 'apiVersion',
  project: 'project',
  location: 'location',
} as const satisfies Readonly<Record<string, keyof PlatformSettings>>;

export type PlatformKey = keyof typeof PLATFORM_KEYS;

export const PLATFORM_NAMES = Object.keys(PLATFORM_KEYS) as readonly PlatformKey[];

const provider = z
  .strictObject({
    adaptor: rule.oneOf(ADAPTORS),
    base_url: rule.text.optional(),
    api_key: rule.text.optional(),
    access_token: rule.text.optional(),
    region: rule.text.optional(),
    access_key_id: rule.text.optional(),
    secret_access_key: rule.text.optional(),
    session_token: rule.text.optional(),
    resource_name: rule.text.optional(),
    api_version: rule.text.optional(),
    project: rule.text.optional(),
    location: rule.text.optional(),
    headers: rule.textsByName.optional(),
    script: rule.text.optional(),
    models: z.record(z.string(), providerModel).optional(),
  })
  .superRefine(({ adaptor, script, ...table }, context) => {
    if (adaptor === 'scripted' && script === undefined) {
      context.addIssue({ code: 'custom', path: ['script'], message: 'expected the path of a YAML script' });
    }
    const misplaced = PLATFORM_NAMES.filter((key) => table[key] !== undefined && !takes(adaptor, key));
    for (const key of misplaced) context.addIssue(onlyWith(key, PLATFORM_FIELDS[PLATFORM_KEYS[key]]));
    if (adaptor !== 'scripted' && script !== undefined) context.addIssue(onlyWith('script', ['scripted']));
  });

function takes(adaptor: AdaptorId, key: PlatformKey): boolean {
  return PLATFORM_FIELDS[PLATFORM_KEYS[key]].includes(adaptor);
}

function onlyWith(key: string, adaptors: readonly AdaptorId[]) {
  const names = adaptors.map((adaptor) => `"${adaptor}"`).join(' or ');
  return { code: 'custom' as const, path: [key], message: `expected only with adaptor = ${names}` };
}

const price = z.strictObject({
  input: rule.price,
  output: rule.price,
  cache_read: rule.price.optional(),
  cache_write: rule.price.optional(),
});

/** One `config.toml`: every table strict, every key optional (CFG-2, CFG-3). */
export const layerSchema = z.strictObject({
  model: rule.modelId.optional(),
  server: z.strictObject({ host: rule.text.optional(), port: rule.integer(0, 65_535).optional() }).optional(),
  tool_output: z
    .strictObject({
      max_lines: rule.integer(1).optional(),
      max_bytes: rule.integer(1).optional(),
      max_capture_bytes: rule.integer(1).optional(),
    })
    .optional(),
  approval: z.strictObject({ timeout_ms: rule.integer(1).optional() }).optional(),
  context: z.strictObject({ trigger_percent: rule.integer(1, 100).optional() }).optional(),
  delegation: z
    .strictObject({
      max_depth: rule.integer(0).optional(),
      max_concurrency: rule.integer(1).optional(),
      max_resident_subagents: rule.integer(1).optional(),
      idle_eviction_after: rule.duration.optional(),
    })
    .optional(),
  messaging: z
    .strictObject({
      enabled: rule.flag.optional(),
      max_hops: rule.anyInteger.optional(),
      max_body_bytes: rule.integer(1).optional(),
      max_pending_per_session: rule.integer(1).optional(),
      max_inflight_per_pair: rule.integer(0).optional(),
    })
    .optional(),
  goals: z.strictObject({ max_idle_runs: rule.integer(1).optional() }).optional(),
  loop_warning: z.strictObject({ enabled: rule.flag.optional() }).optional(),
  bash: z.strictObject({ pass_env: rule.texts.optional() }).optional(),
  model_retry: z
    .strictObject({
      standard: rule.integer(0).optional(),
      overload: rule.integer(0).optional(),
      ceiling_ms: rule.integer(1).optional(),
    })
    .optional(),
  catalogue: z.strictObject({ url: rule.webAddress.optional() }).optional(),
  pricing: z.strictObject({ models: z.record(z.string(), price).optional() }).optional(),
  mcp: z
    .strictObject({
      startup_wait_ms: rule.integer(0).optional(),
      tool_text_budget_tokens: rule.integer(1).optional(),
      servers: z.record(z.string(), mcpServer).optional(),
    })
    .optional(),
  providers: z.record(z.string(), provider).optional(),
});

/** What one configuration file says. */
export type ConfigLayer = z.output<typeof layerSchema>;
export type ProviderTable = z.output<typeof provider>;
export type { McpServerTable } from './mcp-server-schema.ts';
export type PriceTable = z.output<typeof price>;
