import { gatewayError } from './errors.ts';
import { PLATFORM_FIELDS, type PlatformSettings, type ProviderSettings } from './settings.ts';
import type { WellKnownProvider } from './well-known.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting with one text for its value. */
export type FieldName = 'baseUrl' | 'apiKey' | keyof PlatformSettings;

/** A value, and where it comes from: a variable's name, or a setting. */
export interface Given {
  readonly value: string;
  readonly from: string;
}

export type ProviderFields = Readonly<Partial<Record<FieldName, Given>>>;

const PLATFORM_NAMES = Object.keys(PLATFORM_FIELDS) as readonly (keyof PlatformSettings)[];
const FIELD_NAMES: readonly FieldName[] = ['baseUrl', 'apiKey', ...PLATFORM_NAMES];

/** Each of these, alone or with its fellows, lets a request in. */
const CREDENTIALS: ReadonlySet<FieldName> = new Set([
  'apiKey',
  'accessToken',
  'accessKeyId',
  'secretAccessKey',
  'sessionToken',
]);

/** A setting as users write it, e.g. `api_key`. */
export function settingName(field: FieldName): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface Provider {
  readonly id: string;
  readonly settings: ProviderSettings | undefined;
  readonly known: WellKnownProvider | undefined;
}

/**
 * Settings, then the usual variables of a well-known provider (CFG-5). Usual credentials go to the usual address only,
 * and only where the settings hold none: halves of two credentials are never put together.
 */
export function fieldsOf({ id, settings, known }: Provider, environment: Environment): ProviderFields {
  const own = settings === undefined ? {} : fieldsIn(settings, id);
  const usual = known === undefined ? {} : usualFields(known, environment);
  const keepsOwn =
    own.baseUrl !== undefined || FIELD_NAMES.some((name) => CREDENTIALS.has(name) && name in own);
  const lent = Object.entries(usual).filter(([name]) => !keepsOwn || !CREDENTIALS.has(name as FieldName));
  return { ...Object.fromEntries(lent), ...own };
}

function fieldsIn(settings: ProviderSettings, id: string): ProviderFields {
  const fields: Partial<Record<FieldName, Given>> = {};
  for (const name of FIELD_NAMES) {
    const value = settings[name];
    if (value === undefined || value === '') continue;
    checkPairing(name, settings, id);
    fields[name] = { value, from: `${settingName(name)} of [providers.${id}]` };
  }
  return fields;
}

function checkPairing(name: FieldName, { adaptor }: ProviderSettings, id: string): void {
  if (name === 'baseUrl' || name === 'apiKey' || PLATFORM_FIELDS[name].includes(adaptor)) return;
  throw gatewayError(
    'GATEWAY_SETTINGS_INVALID',
    `[providers.${id}] has ${settingName(name)}, which is for adaptor = ${PLATFORM_FIELDS[name].map((one) => `"${one}"`).join(' or ')} only`,
  );
}

function usualFields(known: WellKnownProvider, environment: Environment): ProviderFields {
  const lists = { apiKey: known.keyVariables, ...known.variables };
  const found = Object.entries(lists).flatMap(([name, variables]) => {
    const given = firstIn(variables, environment);
    return given === undefined ? [] : [[name, given] as const];
  });
  const { baseUrl } = known;
  return {
    ...Object.fromEntries(found),
    ...(baseUrl === undefined ? {} : { baseUrl: { value: baseUrl, from: 'the usual address' } }),
  };
}

function firstIn(variables: readonly string[], environment: Environment): Given | undefined {
  for (const name of variables) {
    const value = environment[name];
    if (value !== undefined && value !== '') return { value, from: name };
  }
  return undefined;
}

/** Whether anything is given that lets a request in, be it half of what is needed. */
export function hasCredential(provider: Provider, environment: Environment): boolean {
  return Object.keys(fieldsOf(provider, environment)).some((name) => CREDENTIALS.has(name as FieldName));
}

/** Whether one of the usual key variables is set. */
export function hasUsualKey({ keyVariables }: WellKnownProvider, environment: Environment): boolean {
  return firstIn(keyVariables, environment) !== undefined;
}

/** The variables that usually hold keys, tokens and secrets of a provider (BASH-2). */
export function credentialVariablesOf({
  keyVariables,
  variables = {},
}: WellKnownProvider): readonly string[] {
  const others = Object.entries(variables).filter(([name]) => CREDENTIALS.has(name as FieldName));
  return [...keyVariables, ...others.flatMap(([, names]) => names)];
}
