import { DEFAULT_OUTPUT_LIMITS } from '@agentd/contract';
import type { ModelCatalogue } from '@agentd/model-gateway';
import type { ConfigLayer, McpServerTable, PriceTable, ProviderTable } from './config-schema.ts';

/** Tables of fixed keys, named as in the file, with their defaults (CFG-3). */
const DEFAULTS = {
  server: { host: '127.0.0.1', port: 7420 },
  tool_output: {
    max_lines: DEFAULT_OUTPUT_LIMITS.maxLines,
    max_bytes: DEFAULT_OUTPUT_LIMITS.maxBytes,
    max_capture_bytes: DEFAULT_OUTPUT_LIMITS.maxCaptureBytes,
  },
  approval: { timeout_ms: 300_000 },
  context: { trigger_percent: 70 },
  delegation: {
    max_depth: 3,
    max_concurrency: 4,
    max_resident_subagents: 20,
    /** Milliseconds. */
    idle_eviction_after: 3_600_000,
  },
  messaging: {
    enabled: true,
    max_hops: 0,
    max_body_bytes: 32_768,
    max_pending_per_session: 32,
    max_inflight_per_pair: 4,
  },
  goals: { max_idle_runs: 10 },
  loop_warning: { enabled: true },
  bash: { pass_env: [] as readonly string[] },
  model_retry: { standard: 3, overload: 5, ceiling_ms: 60_000 },
  /** Where `models refresh` looks (CFG-5). */
  catalogue: { url: 'https://models.dev/api.json' },
};

/** All settings, defaults filled in. References to the environment are still unresolved. */
export type Settings = Readonly<typeof DEFAULTS> & {
  /** `provider/model` for runs that name none (CFG-4). */
  readonly model: string | null;
  readonly pricing: Readonly<Record<string, PriceTable>>;
  readonly mcp: {
    readonly startup_wait_ms: number;
    readonly tool_text_budget_tokens: number;
    readonly servers: Readonly<Record<string, McpServerTable>>;
  };
  readonly providers: Readonly<Record<string, ProviderTable>>;
  /** What `models refresh` keeps in the home: settings of models win over it (CFG-5). */
  readonly refreshed: ModelCatalogue;
};

/** Fills the defaults of CFG-3 in. */
export function settingsOf(layer: ConfigLayer, refreshed: ModelCatalogue = {}): Settings {
  const tables = Object.entries(DEFAULTS).map(([name, defaults]) => {
    return [name, { ...defaults, ...layer[name as keyof typeof DEFAULTS] }];
  });
  return {
    ...(Object.fromEntries(tables) as typeof DEFAULTS),
    model: layer.model ?? null,
    pricing: layer.pricing?.models ?? {},
    mcp: {
      startup_wait_ms: layer.mcp?.startup_wait_ms ?? 5000,
      tool_text_budget_tokens: layer.mcp?.tool_text_budget_tokens ?? 10_000,
      servers: layer.mcp?.servers ?? {},
    },
    providers: layer.providers ?? {},
    refreshed,
  };
}
