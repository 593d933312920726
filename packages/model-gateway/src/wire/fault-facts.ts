import { APICallError } from '@ai-sdk/provider';
import { codeOf, isJsonObject, messageOf, type JsonObject, type JsonValue } from '@agentd/contract';
import { StreamFault } from './stream-reducer.ts';

/** What a failure tells about itself, whatever shape it came in. */
export interface FaultFacts {
  /**
   * `answer`: the provider answered with an error; `stream`: it reported one in its stream; `connection`: there was
   * no answer, or it broke off; `request`: the package would not send the request.
   */
  readonly origin: 'answer' | 'stream' | 'connection' | 'request';
  readonly status: number | undefined;
  /** Codes and types that the provider names, lower case. */
  readonly codes: readonly string[];
  /** The provider's own words, or what the system says. */
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads a failure. Request bodies and headers, which some errors carry, are left behind. */
export function factsOf(thrown: unknown): FaultFacts {
  if (thrown instanceof StreamFault) return streamFacts(thrown.fault);
  if (!APICallError.isInstance(thrown)) return otherFacts(thrown);
  const { statusCode: status, responseHeaders: headers = {} } = thrown;
  // A 2xx here is an answer that began well and then broke off.
  if (status === undefined || status < 300) return connectionFacts(thrown);
  const body = bodyOf(thrown);
  const message = messageIn(body) ?? (isJsonObject(thrown.data) ? thrown.message : '');
  const codes = [...codesIn(body), ...awsCodeIn(headers)];
  return { origin: 'answer', status, codes, message, headers: { ...headers, ...waitIn(body) } };
}

function streamFacts(fault: unknown): FaultFacts {
  const data = payloadOf(fault);
  const codes = codesIn(data);
  const named = codes.map(Number).find((code) => code >= 400 && code < 600);
  const status = isJsonObject(data) && typeof data['statusCode'] === 'number' ? data['statusCode'] : named;
  return { origin: 'stream', status, codes, message: messageIn(data) ?? '', headers: {} };
}

/** An event that the package could not read stands in `value` or `data` of its error; a plain fault is the payload. */
function payloadOf(fault: unknown): unknown {
  if (!isRecord(fault)) return fault;
  if (isRecord(fault['value'])) return fault['value'];
  return fault['name'] === undefined ? fault : undefined;
}

function otherFacts(thrown: unknown): FaultFacts {
  const name = isRecord(thrown) ? thrown['name'] : undefined;
  const refused = typeof name === 'string' && /Unsupported|InvalidPrompt|InvalidArgument/.test(name);
  if (!refused) return connectionFacts(thrown);
  return { origin: 'request', status: undefined, codes: [], message: messageOf(thrown), headers: {} };
}

function connectionFacts(thrown: unknown): FaultFacts {
  return {
    origin: 'connection',
    status: undefined,
    codes: [],
    message: systemCode(thrown) ?? '',
    headers: {},
  };
}

/** The code of the system error at the bottom, e.g. `ECONNREFUSED`. */
function systemCode(thrown: unknown): string | undefined {
  let code: string | undefined;
  for (let error = thrown, depth = 0; isRecord(error) && depth < 5; error = error['cause'], depth += 1) {
    code = codeOf(error) ?? code;
  }
  return code;
}

/** `{error: {message}}`, `{error: "…"}`, `{message}` and `{detail}` are all in use. */
function messageIn(body: unknown): string | undefined {
  if (!isRecord(body)) return undefined;
  const { error } = body;
  const inner = innerOf(body);
  const found = [inner['message'], error, inner['detail']].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return typeof found === 'string' ? found : undefined;
}

/** The error itself; a failed Responses turn holds it in `response`. */
function innerOf(body: JsonObject): JsonObject {
  const { error, response } = body;
  if (isRecord(error)) return error;
  return isRecord(response) && isRecord(response['error']) ? response['error'] : body;
}

function codesIn(body: unknown): string[] {
  if (!isRecord(body)) return [];
  const inner = innerOf(body);
  const reasons = detailsIn(inner).map((detail) => detail['reason']);
  return [inner['code'], inner['type'], inner['status'], body['statusCode'], ...reasons]
    .filter((code) => typeof code === 'string' || typeof code === 'number')
    .map((code) => String(code).toLowerCase());
}

/** Google answers some faults of a stream with a list of one. An event that refused a turn before its first word has no body. */
function bodyOf({ responseBody, data }: APICallError): unknown {
  const body = parse(responseBody) ?? data;
  return Array.isArray(body) ? body[0] : body;
}

/** AWS names the fault in a header: `ThrottlingException:http://internal…`. */
function awsCodeIn(headers: Readonly<Record<string, string>>): string[] {
  const type = headers['x-amzn-errortype'];
  return type === undefined ? [] : [(type.split(':')[0] ?? '').toLowerCase()];
}

/** Google tells the time to wait in the body: `{'@type': '…RetryInfo', retryDelay: '17.5s'}`. */
function waitIn(body: unknown): Record<string, string> {
  const inner = isRecord(body) && isRecord(body['error']) ? body['error'] : undefined;
  const delay = detailsIn(inner).find((detail) => detail['retryDelay'] !== undefined)?.['retryDelay'];
  const [, seconds] = typeof delay === 'string' ? (/^(\d+(?:\.\d+)?)s$/.exec(delay) ?? []) : [];
  return seconds === undefined ? {} : { 'retry-after': seconds };
}

function detailsIn(error: JsonObject | undefined): JsonObject[] {
  const details = error?.['details'];
  return Array.isArray(details) ? details.filter(isRecord) : [];
}

function parse(text: string | undefined): JsonValue | undefined {
  try {
    return JSON.parse(text ?? '') as JsonValue;
  } catch {
    // A page of HTML, or nothing: the status has to do.
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> & JsonObject {
  return isJsonObject(value);
}
