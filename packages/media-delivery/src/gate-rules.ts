import type { MediaKind, ModelInfo, ToolErrorCode } from '@agentd/contract';
import { deliveryCell, placeOf } from './delivery-matrix.ts';
import { ATTACHMENT_BUDGET, maxBytesOf, sizeText } from './limits.ts';
import { described, plural } from './wording.ts';

export interface GateQuestion {
  readonly name: string | null;
  readonly kind: MediaKind;
  readonly mimeType: string;
  readonly byteLength: number;
}

/** Why a file is not attached, as a model should read it. */
export interface Refusal {
  readonly code: Extract<ToolErrorCode, `media_${string}`>;
  readonly message: string;
}

type Rule = (question: GateQuestion, model: ModelInfo) => Refusal | undefined;

/** In the order that the contract gives: the model, its family, the size (MED-2, MED-3, MED-4). */
const RULES: readonly Rule[] = [modelRule, familyRule, sizeRule];

/** What stands against a file before anyone looks inside it; undefined for nothing. */
export function refusalOf(question: GateQuestion, model: ModelInfo | null): Refusal | undefined {
  if (model === null) return budgetRule(question);
  for (const rule of RULES) {
    const refusal = rule(question, model);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function modelRule(question: GateQuestion, { id, input }: ModelInfo): Refusal | undefined {
  if (input.includes(question.kind)) return undefined;
  return {
    code: 'media_unsupported',
    message: `${subject(question)} was not attached: the model ${id} lacks the input capability "${question.kind}" (it takes ${input.join(', ')}). Take what you need out of the file with bash, or ask the user for another model.`,
  };
}

function familyRule(question: GateQuestion, model: ModelInfo): Refusal | undefined {
  if (placeOf(model, question.kind) !== null) return undefined;
  const cell = deliveryCell(model.family, question.kind);
  const some = typeof cell === 'string' ? '' : ` except on ${cell.lines.join(' and ')} models`;
  return {
    code: 'media_undeliverable',
    message: `${subject(question)} was not attached: the API family ${model.family} of ${model.id} carries no ${plural(question.kind)}${some}, neither in a tool result nor in a user turn. Take what you need out of the file with bash.`,
  };
}

function sizeRule(question: GateQuestion, model: ModelInfo): Refusal | undefined {
  const limit = maxBytesOf(model, question.kind);
  if (question.byteLength <= limit) return undefined;
  return {
    code: 'media_too_large',
    message: `${subject(question)} was not attached: it has ${sizeText(question.byteLength)}, and ${model.id} (family ${model.family}) takes ${plural(question.kind)} of at most ${sizeText(limit)}. Make a smaller file of it with bash and read that.`,
  };
}

/** Without a model all that counts is what a result can carry (MED-2, MED-10). */
function budgetRule(question: GateQuestion): Refusal | undefined {
  const limit = ATTACHMENT_BUDGET.maxBytes;
  if (question.byteLength <= limit) return undefined;
  return {
    code: 'media_too_large',
    message: `${subject(question)} was not attached: it has ${sizeText(question.byteLength)}, and the attachments of a result have at most ${sizeText(limit)}.`,
  };
}

const subject = ({ name, mimeType, byteLength }: GateQuestion): string =>
  described(name, mimeType, byteLength);
