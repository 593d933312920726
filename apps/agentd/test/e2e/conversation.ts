interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

function messagesOf(body: unknown): readonly WireMessage[] {
  return (body as { readonly messages: readonly WireMessage[] }).messages;
}

function textOf({ content }: WireMessage): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content)
    ? content.map((part: { readonly text?: string }) => part.text ?? '').join('')
    : '';
}

/** The newest text of the user; inputs that came one after the other are parts of one message. */
export function lastUserText(body: unknown): string {
  const { content } = messagesOf(body).findLast(({ role }) => role === 'user') ?? {};
  return Array.isArray(content) ? textOf({ role: 'user', content: content.slice(-1) }) : String(content);
}

/** How many turns the assistant has answered since the newest text of the user. */
export function stepsSince(body: unknown): number {
  const messages = messagesOf(body);
  const last = messages.findLastIndex(({ role }) => role === 'user');
  return messages.slice(last).filter(({ role }) => role === 'assistant').length;
}

/** What a strict Chat Completions provider would refuse in a request; empty when it would take it. */
export function conversationProblems(body: unknown): string[] {
  const messages = messagesOf(body);
  const check = new ConversationCheck();
  for (const message of messages) check.take(message);
  return check.problemsAfter(messages.at(-1));
}

class ConversationCheck {
  readonly #problems: string[] = [];
  readonly #seen = new Set<string>();
  #waiting: string[] = [];

  take(message: WireMessage): void {
    if (message.role === 'tool') this.#takeResult(message);
    else this.#takeOther(message);
  }

  problemsAfter(last: WireMessage | undefined): string[] {
    this.#expectNoneWaiting('the end');
    if (last?.role !== 'user' && last?.role !== 'tool')
      this.#problems.push('the last message is the assistant’s own');
    return this.#problems;
  }

  #takeResult(message: WireMessage): void {
    const id = message.tool_call_id ?? '';
    if (!this.#waiting.includes(id)) this.#problems.push(`a result without its call: ${id}`);
    this.#waiting = this.#waiting.filter((waiting) => waiting !== id);
    if (textOf(message).trim() === '') this.#problems.push('an empty result');
  }

  #takeOther(message: WireMessage): void {
    const calls = message.tool_calls ?? [];
    this.#expectNoneWaiting(`the next ${message.role} message`);
    this.#waiting = calls.map(({ id }) => id);
    for (const call of calls) this.#problems.push(...callProblems(call, this.#seen));
    if (textOf(message).trim() === '' && calls.length === 0)
      this.#problems.push(`an empty ${message.role} message`);
  }

  #expectNoneWaiting(before: string): void {
    if (this.#waiting.length > 0)
      this.#problems.push(`no result for ${this.#waiting.join(', ')} before ${before}`);
  }
}

function callProblems(call: NonNullable<WireMessage['tool_calls']>[number], seen: Set<string>): string[] {
  const problems: string[] = [];
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(call.id)) problems.push(`a malformed call id: ${call.id}`);
  if (seen.has(call.id)) problems.push(`the call id ${call.id} twice`);
  seen.add(call.id);
  try {
    JSON.parse(call.function.arguments);
  } catch {
    problems.push(`arguments of ${call.id} are not JSON`);
  }
  return problems;
}
