import type { AdaptorId, ProviderSettings } from '@agentd/model-gateway';
import type { ProviderTable } from '../config/config-schema.ts';
import { expandReferences } from '../config/env-references.ts';
import type { Settings } from '../config/settings.ts';
import { setUpError } from '../faults.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Adaptors of this version; settings may already name the others (CFG-6). */
const AVAILABLE: readonly string[] = ['anthropic', 'openai-compatible', 'scripted'] satisfies AdaptorId[];

/** Why a provider cannot be used as it is configured: an adaptor that is not there, or a missing variable; null when it can. */
export function providerFault(
  id: string,
  { providers }: Settings,
  environment: Environment,
): ReturnType<typeof setUpError> | null {
  const table = Object.hasOwn(providers, id) ? providers[id] : undefined;
  if (table === undefined) return null;
  if (!AVAILABLE.includes(table.adaptor)) {
    return setUpError(
      `provider "${id}": this version has no adaptor "${table.adaptor}" (it has ${AVAILABLE.join(', ')})`,
    );
  }
  try {
    expanded(id, table, environment);
    return null;
  } catch (error) {
    return error as ReturnType<typeof setUpError>;
  }
}

/** What the gateway is told. A provider whose variables are missing keeps its place, without what they would give (CFG-4). */
export function gatewayProviders(
  settings: Settings,
  environment: Environment,
): Readonly<Record<string, ProviderSettings>> {
  const usable = Object.entries(settings.providers).filter(([, { adaptor }]) => AVAILABLE.includes(adaptor));
  return Object.fromEntries(
    usable.map(([id, table]) => {
      const values =
        providerFault(id, settings, environment) === null ? expanded(id, table, environment) : {};
      return [id, providerSettings(id, { table, values, settings })];
    }),
  );
}

type ReferringValues = Pick<ProviderSettings, 'baseUrl' | 'apiKey' | 'headers'>;

function expanded(id: string, table: ProviderTable, environment: Environment): ReferringValues {
  const expand = (value: string): string => expandReferences(value, environment, `provider "${id}"`);
  const headers = Object.entries(table.headers ?? {}).map(([name, value]) => [name, expand(value)] as const);
  return {
    baseUrl: table.base_url === undefined ? undefined : expand(table.base_url),
    apiKey: table.api_key === undefined ? undefined : expand(table.api_key),
    headers: Object.fromEntries(headers),
  };
}

interface ProviderParts {
  readonly table: ProviderTable;
  readonly values: ReferringValues;
  readonly settings: Settings;
}

function providerSettings(id: string, { table, values, settings }: ProviderParts): ProviderSettings {
  const named = new Set([...Object.keys(table.models ?? {}), ...pricedModels(id, settings)]);
  const models = [...named].map((model) => {
    const { input, context_tokens, output_tokens, media } = table.models?.[model] ?? {};
    const price = settings.pricing[`${id}/${model}`];
    const pricing = price && {
      input: price.input,
      output: price.output,
      ...(price.cache_read === undefined ? {} : { cacheRead: price.cache_read }),
      ...(price.cache_write === undefined ? {} : { cacheWrite: price.cache_write }),
    };
    const settingsOfModel = {
      input,
      contextTokens: context_tokens,
      outputTokens: output_tokens,
      media: media as NonNullable<ProviderSettings['models']>[string]['media'],
      pricing,
    };
    return [model, settingsOfModel] as const;
  });
  return {
    adaptor: table.adaptor as AdaptorId,
    ...values,
    script: table.script,
    models: Object.fromEntries(models),
  };
}

function pricedModels(id: string, { pricing }: Settings): readonly string[] {
  const prefix = `${id}/`;
  return Object.keys(pricing)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
}
