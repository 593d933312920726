import {
  isModelError,
  modelError,
  unreachable,
  type AgentdError,
  type ModelErrorCode,
} from '@agentd/contract';
import { secretsIn, type AdaptorSetup } from '../adaptor.ts';
import { factsOf, type FaultFacts } from './fault-facts.ts';
import { retryAfterMs } from './retry-after.ts';

/** A longer message of a provider is a page, not a message. */
const MAX_MESSAGE_CHARACTERS = 300;

/** Header values shorter than this are too common to be taken for a secret. */
const MIN_SECRET_CHARACTERS = 8;

const KEY_LIKE = /\b(?:(?:sk|gsk|xai|pk|csk|fw)[-_][\w-]{8,}|AIza[\w-]{8,}|A[KS]IA[A-Z0-9]{8,})/g;

const AUTH_CODES = [
  'authentication_error',
  'permission_error',
  'invalid_api_key',
  'api_key_invalid',
  'unauthenticated',
  'permission_denied',
  'accessdeniedexception',
  'unrecognizedclientexception',
  'expiredtokenexception',
];

const RATE_CODES = ['rate_limit_error', 'rate_limit_exceeded', 'resource_exhausted', 'throttlingexception'];

const OVERLOAD_CODES = ['overloaded_error', 'overloaded', 'unavailable', 'serviceunavailableexception'];

const OVERFLOW_CODES = ['context_length_exceeded', 'model_max_prompt_tokens_exceeded', 'request_too_large'];

/** How the families say that a request is larger than the context. */
const OVERFLOW_TEXT = new RegExp(
  [
    'prompt is too long',
    'input is too long',
    'input length and `?max_tokens`? exceed',
    'maximum context length',
    'context[_ ]length[_ ]exceeded',
    'exceeds? (?:the )?(?:model.s |available |maximum )*context (?:size|window|length)',
    'context (?:window|size|length) (?:is |was )?(?:exceeded|overflow)',
    'input token count.*(?:exceeds|only supports)',
    'input tokens? exceeded',
    'number of input tokens exceeds',
    'too many (?:input )?tokens',
    'reduce the length of the (?:messages|prompt|input)',
    'maximum prompt length',
    'prompt.*longer than.*context',
  ].join('|'),
  'i',
);

/** The model error for a failed attempt. It holds neither key nor header nor body (SES-9). */
export function modelFault(thrown: unknown, setup: AdaptorSetup): AgentdError<ModelErrorCode> {
  if (isModelError(thrown)) return thrown;
  const facts = factsOf(thrown);
  const code = codeFor(facts);
  const wait = retryAfterMs(facts.headers, setup.clock.now());
  return modelError(code, textFor(code, facts, setup), {
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
    ...(facts.status === undefined ? {} : { status: facts.status }),
  });
}

interface Rule {
  readonly code: ModelErrorCode;
  readonly statuses?: readonly number[];
  readonly names?: readonly string[];
  readonly when?: (facts: FaultFacts) => boolean;
}

/** The first that fits decides. */
const RULES: readonly Rule[] = [
  { code: 'MODEL_AUTH', statuses: [401, 403], names: AUTH_CODES },
  // An empty purse is told as a rate limit, and no waiting fills it.
  { code: 'MODEL_REFUSED', statuses: [402], names: ['insufficient_quota', 'billing_error'] },
  // Some say "rate limit" to a request that is larger than a minute's allowance: only a smaller one helps.
  { code: 'MODEL_CONTEXT_OVERFLOW', statuses: [413], names: OVERFLOW_CODES },
  { code: 'MODEL_RATE_LIMIT', statuses: [429], names: RATE_CODES },
  { code: 'MODEL_CONTEXT_OVERFLOW', when: ({ message }) => OVERFLOW_TEXT.test(message) },
  { code: 'MODEL_OVERLOADED', statuses: [503, 529], names: OVERLOAD_CODES },
  { code: 'MODEL_REFUSED', names: ['invalid_request_error'], when: ({ origin }) => origin === 'request' },
  // 424 is Bedrock's word for a model that failed behind it.
  {
    code: 'MODEL_UNAVAILABLE',
    statuses: [408, 409, 424],
    names: ['server_error'],
    when: ({ status = 500 }) => status >= 500,
  },
];

function codeFor(facts: FaultFacts): ModelErrorCode {
  return RULES.find((rule) => fits(rule, facts))?.code ?? 'MODEL_REFUSED';
}

function fits({ statuses = [], names = [], when }: Rule, facts: FaultFacts): boolean {
  const { status, codes } = facts;
  if (status !== undefined && statuses.includes(status)) return true;
  return codes.some((code) => names.includes(code)) || when?.(facts) === true;
}

function textFor(code: ModelErrorCode, facts: FaultFacts, setup: AdaptorSetup): string {
  const { endpoint, info } = setup;
  const provider = `provider ${JSON.stringify(info.provider)}`;
  const status = facts.status === undefined ? '' : ` (${facts.status})`;
  const message = shortened(hideSecrets(facts.message, setup));
  const words = message === '' ? '' : `: ${message}`;
  switch (code) {
    case 'MODEL_AUTH':
      // 403 is as often about the model or the region as about the key.
      return facts.status === 403
        ? `${provider} refused access${status}${words}; check ${endpoint.keyHint}`
        : `${provider} refused the key${status}: check ${endpoint.keyHint}`;
    case 'MODEL_RATE_LIMIT':
      return `${provider} limits the rate of requests${status}${words}`;
    case 'MODEL_OVERLOADED':
      return `${provider} is overloaded${status}${words}`;
    case 'MODEL_CONTEXT_OVERFLOW':
      return `the request is larger than the context of ${info.id}${status}${words}`;
    case 'MODEL_REFUSED':
      return `${provider} refused the request${status}${words}${notFoundHint(facts, message)}`;
    case 'MODEL_UNAVAILABLE':
      return unavailableText(provider, facts, { status, words, origin: originOf(endpoint.baseUrl) });
    default:
      return unreachable(code);
  }
}

/** A bare 404 comes from servers that know the path as little as the model. */
function notFoundHint({ status }: FaultFacts, message: string): string {
  return status === 404 && message === '' ? ': check base_url (does it end as in "/v1"?) and the model' : '';
}

function unavailableText(
  provider: string,
  facts: FaultFacts,
  { status, words, origin }: { readonly status: string; readonly words: string; readonly origin: string },
): string {
  if (facts.origin !== 'connection') return `${provider} failed${status}${words}`;
  return `the connection to ${provider} at ${origin} failed, or its answer broke off${words}`;
}

/** Neither user info nor query of a URL belongs in a message. */
function originOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : 'its base URL';
}

function hideSecrets(message: string, { endpoint }: AdaptorSetup): string {
  const values = [...secretsIn(endpoint.credential), ...Object.values(endpoint.headers)];
  const secrets = values
    .flatMap((value) => [value, value.replace(/^\S+ /, '')])
    .filter(({ length }) => length >= MIN_SECRET_CHARACTERS);
  const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, '[hidden]'), message);
  return hidden.replace(KEY_LIKE, '[hidden]');
}

function shortened(message: string): string {
  const line = message.replaceAll(/\s+/g, ' ').trim();
  const characters = [...line];
  if (characters.length <= MAX_MESSAGE_CHARACTERS) return line;
  return `${characters.slice(0, MAX_MESSAGE_CHARACTERS).join('')}…`;
}
