import type {
  Attachment,
  MediaPlacer,
  ModelMessage,
  PlacedMessage,
  PlacedPart,
  PlacedToolResult,
  ToolResultPart,
} from '@agentd/contract';
import { decideDelivery, type Decision } from './request-plan.ts';
import { described } from './wording.ts';

type ToolMessage = Extract<ModelMessage, { readonly role: 'tool' }>;
type UserMessage = Extract<ModelMessage, { readonly role: 'user' }>;
type NextDecision = () => Decision;

/** Puts media where a model's family takes it (MED-2, MED-5, MED-6, MED-11, DEL-1 to DEL-9). */
export const mediaPlacer: MediaPlacer = {
  place: (messages, model, options = {}) => {
    const decisions = decideDelivery(messages, model, options).values();
    const next: NextDecision = () => {
      const { value } = decisions.next();
      // The plan has one decision for each attachment, in the order in which they are asked for here.
      if (value === undefined) throw new Error('an attachment without a decision');
      return value;
    };
    return messages.flatMap((message) => placeMessage(message, next));
  },
};

function placeMessage(message: ModelMessage, next: NextDecision): readonly PlacedMessage[] {
  if (message.role === 'assistant') return [message];
  return message.role === 'user' ? [placeUser(message, next)] : placeStep(message, next);
}

function placeUser({ content, attachments = [] }: UserMessage, next: NextDecision): PlacedMessage {
  return { role: 'user', content: [...content, ...attachments.map((file) => fileOrNote(file, next()))] };
}

/** One tool message, and one user turn after it for all that cannot lie in a result (MED-5). */
function placeStep({ content }: ToolMessage, next: NextDecision): readonly PlacedMessage[] {
  const later: PlacedPart[] = [];
  const results = content.map((result) => placeResult(result, next, later));
  const step: PlacedMessage = { role: 'tool', content: results };
  if (later.length === 0) return [step];
  const head: PlacedPart = {
    type: 'text',
    text: 'Files from the tool results above, in the order of the calls.',
  };
  return [step, { role: 'user', content: [head, ...later] }];
}

function placeResult(
  { attachments = [], ...result }: ToolResultPart,
  next: NextDecision,
  later: PlacedPart[],
): PlacedToolResult {
  const media = attachments.map((file): PlacedPart => {
    const decision = next();
    if (decision.kind === 'note' || decision.place === 'tool_result') return fileOrNote(file, decision);
    later.push({ type: 'text', text: `${nameOf(file)} from ${result.tool}:` }, fileOrNote(file, decision));
    return { type: 'text', text: `[${nameOf(file)} follows in the next user turn]` };
  });
  return { ...result, media };
}

function fileOrNote(attachment: Attachment, decision: Decision): PlacedPart {
  if (decision.kind === 'file') return { type: 'file', attachment, filename: decision.filename };
  return { type: 'text', text: `[${nameOf(attachment)} is not sent: ${decision.reason}]` };
}

const nameOf = ({ filename, mime_type, byte_length }: Attachment): string =>
  described(filename, mime_type, byte_length);
