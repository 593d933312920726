const BRAND = Symbol.for('agentd.error');

export interface AgentdErrorInit {
  readonly cause?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The one error class. It is recognised by brand, because `instanceof` fails between two copies of a package. */
export class AgentdError<Code extends string = string> extends Error {
  override readonly name = 'AgentdError';
  readonly code: Code;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: Code, message: string, { cause, details = {} }: AgentdErrorInit = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether `value` is an `AgentdError`, made by this or by another copy of the package. */
export function isAgentdError(value: unknown): value is AgentdError {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, BRAND);
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (typeof thrown === 'object' && thrown !== null && 'message' in thrown) return String(thrown.message);
  return String(thrown);
}

/** The `code` of a system error (`ENOENT`, …) or of an `AgentdError`; undefined for anything else. */
export function codeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** For the `default` of a `switch` over a closed union: a new member becomes a compile error there. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
