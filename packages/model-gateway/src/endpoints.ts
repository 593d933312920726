import type { Credential, Endpoint } from './adaptor.ts';
import { gatewayError } from './errors.ts';
import { settingName, type FieldName, type ProviderFields } from './provider-fields.ts';
import type { AdaptorId } from './settings.ts';

type WireId = Exclude<AdaptorId, 'scripted'>;

export interface EndpointRequest {
  readonly provider: string;
  readonly adaptor: WireId;
  readonly fields: ProviderFields;
  /** Whether settings have a table for it. */
  readonly hasTable: boolean;
  /** Whether it is well known, so that its usual variables count. */
  readonly isKnown: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

const ANTHROPIC_ORIGIN = 'https://api.anthropic.com';

/** Addresses that an adaptor has without settings. */
const USUAL_URLS: Readonly<Partial<Record<WireId, string>>> = {
  anthropic: `${ANTHROPIC_ORIGIN}/v1`,
  'openai-responses': 'https://api.openai.com/v1',
  'openai-chat': 'https://api.openai.com/v1',
  'google-gemini': 'https://generativelanguage.googleapis.com/v1beta',
  'cohere-v2-chat': 'https://api.cohere.com/v2',
};

/** Parts of AWS with a domain of their own. */
const AWS_DOMAINS: readonly (readonly [regions: string, domain: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
];

const VERTEX_KEY_URL = 'https://aiplatform.googleapis.com/v1/publishers/google';

/** Parts of a host name: a value with a slash or an `@` would lead elsewhere. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

const FORMS: readonly (readonly [field: FieldName, form: RegExp, advice: string])[] = [
  ['region', LABEL, 'write e.g. region = "eu-central-1"'],
  ['resourceName', LABEL, 'write the NAME of https://NAME.openai.azure.com'],
  ['location', LABEL, 'write e.g. location = "europe-west4"'],
  ['project', /^[a-z0-9][a-z0-9.:-]{0,99}$/i, 'write the id of a Google Cloud project'],
  [
    'apiVersion',
    /^(?:v1|preview|\d{4}-\d{2}-\d{2}(?:-preview)?)$/,
    'write "v1", "preview" or a date such as "2025-04-01-preview"',
  ],
];

/** Where requests of an adaptor go. Throws what is missing or malformed, and how to mend it, in one line (CFG-5). */
export function endpointOf(request: EndpointRequest, credential: Credential | undefined): Endpoint {
  const { fields, headers } = request;
  const baseUrl = trimmed(fields.baseUrl?.value ?? builtUrl(request, credential));
  if (!isHttp(baseUrl)) throw invalid(request, 'has a base_url that is not an http(s) URL', URL_EXAMPLE);
  return {
    baseUrl,
    credential,
    headers,
    keyHint: hintOf(request, credential),
    region: fields.region?.value,
    apiVersion: fields.apiVersion?.value,
  };
}

const URL_EXAMPLE = 'write e.g. base_url = "http://127.0.0.1:11434/v1"';

function trimmed(url: string): string {
  const cut = url.replace(/\/+$/, '');
  return cut === ANTHROPIC_ORIGIN ? `${ANTHROPIC_ORIGIN}/v1` : cut;
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

function checkForms({ fields }: EndpointRequest): void {
  for (const [field, form, advice] of FORMS) {
    const given = fields[field];
    if (given === undefined || form.test(given.value)) continue;
    throw gatewayError('GATEWAY_SETTINGS_INVALID', `${given.from} is malformed: ${advice}`);
  }
}

/** What lets requests in; undefined where nothing is given. Throws where only half of it is, or a form is wrong. */
export function credentialOf(request: EndpointRequest): Credential | undefined {
  checkForms(request);
  const { apiKey, accessToken, accessKeyId, secretAccessKey, sessionToken } = request.fields;
  if (accessToken !== undefined) return { kind: 'token', value: accessToken.value };
  if (apiKey !== undefined) return { kind: 'key', value: apiKey.value };
  const half = accessKeyId ?? secretAccessKey ?? sessionToken;
  if (half === undefined) return ownCredential(request);
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw gatewayError(
      'GATEWAY_SETTINGS_INVALID',
      `${half.from} is of no use alone: access_key_id and secret_access_key go together`,
    );
  }
  required(request, 'region', 'AWS_REGION');
  return {
    kind: 'aws',
    accessKeyId: accessKeyId.value,
    secretAccessKey: secretAccessKey.value,
    sessionToken: sessionToken?.value,
  };
}

/** Google Cloud finds its credentials by itself; they go to its own address only. */
function ownCredential({ adaptor, fields }: EndpointRequest): Credential | undefined {
  const { project, baseUrl } = fields;
  if (adaptor !== 'google-vertex-gemini' || project === undefined || baseUrl !== undefined) return undefined;
  return { kind: 'google', project: project.value };
}

function builtUrl(request: EndpointRequest, credential: Credential | undefined): string {
  const { adaptor, fields } = request;
  switch (adaptor) {
    case 'aws-bedrock-converse':
      return bedrockUrl(required(request, 'region', 'AWS_REGION'));
    case 'azure-openai-chat':
    case 'azure-openai-responses':
      return `https://${required(request, 'resourceName', 'AZURE_RESOURCE_NAME')}.openai.azure.com/openai`;
    case 'google-vertex-gemini':
      if (credential?.kind === 'key') return VERTEX_KEY_URL;
      return vertexUrl(
        required(request, 'project', 'GOOGLE_VERTEX_PROJECT'),
        fields.location?.value ?? 'global',
      );
    default: {
      const usual = USUAL_URLS[adaptor];
      if (usual !== undefined) return usual;
      throw invalid(request, 'has no base_url', URL_EXAMPLE);
    }
  }
}

function bedrockUrl(region: string): string {
  const [, domain] = AWS_DOMAINS.find(([regions]) => region.startsWith(regions)) ?? ['', 'amazonaws.com'];
  return `https://bedrock-runtime.${region}.${domain}`;
}

function vertexUrl(project: string, location: string): string {
  const hosts: Readonly<Record<string, string>> = {
    global: 'aiplatform.googleapis.com',
    eu: 'aiplatform.eu.rep.googleapis.com',
    us: 'aiplatform.us.rep.googleapis.com',
  };
  const host = Object.hasOwn(hosts, location) ? hosts[location] : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1beta1/projects/${project}/locations/${location}/publishers/google`;
}

function hintOf({ provider, fields }: EndpointRequest, credential: Credential | undefined): string {
  switch (credential?.kind) {
    case 'key':
      return fields.apiKey?.from ?? '';
    case 'token':
      return fields.accessToken?.from ?? '';
    case 'aws':
      return fields.accessKeyId?.from ?? '';
    case 'google':
      return 'the Application Default Credentials of Google Cloud (GOOGLE_APPLICATION_CREDENTIALS)';
    default:
      return `api_key of [providers.${provider}] (none is set)`;
  }
}

function required(request: EndpointRequest, field: FieldName, variable: string): string {
  const given = request.fields[field];
  if (given !== undefined) return given.value;
  const name = settingName(field);
  const setting = `${name} in [providers.${request.provider}]`;
  throw invalid(request, `has no ${name}`, `set ${request.isKnown ? `${variable}, or ` : ''}${setting}`);
}

function invalid({ provider, hasTable }: EndpointRequest, problem: string, advice: string) {
  const subject = hasTable ? `[providers.${provider}]` : `provider ${JSON.stringify(provider)}`;
  return gatewayError('GATEWAY_SETTINGS_INVALID', `${subject} ${problem}: ${advice}`);
}
