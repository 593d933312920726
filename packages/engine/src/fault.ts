import { codeOf, messageOf } from '@agentd/contract';
import { presentable } from './calls/bounded-text.ts';

/** An error as events record it. (A type alias: payloads are JSON objects, which interfaces are not assignable to.) */
export type Fault = {
  readonly code: string;
  readonly message: string;
};

/** A message longer than this is a document, not a message. */
const LONGEST_MESSAGE = 4096;

/**
 * What an event says of anything that was thrown: never a stack, a cause or details. Much of the text comes from
 * servers, and is shown on terminals: it commands none.
 */
export function faultOf(thrown: unknown): Fault {
  const message = presentable(messageOf(thrown));
  return {
    code: codeOf(thrown) ?? 'ENGINE_DEFECT',
    message:
      message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE).toWellFormed()}…` : message,
  };
}
