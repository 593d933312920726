import type { MediaKind, MediaPlace, ModelInfo } from '@agentd/contract';

/** A place that only some models of the family have. */
export interface CapableModels {
  readonly place: MediaPlace;
  /** Names of model lines; a model is capable when its id holds one of them, whatever the case (MED-11). */
  readonly lines: readonly string[];
}

export type DeliveryCell = MediaPlace | 'no' | CapableModels;

/** One row: families whose wire takes media in the same places. `clause` names its rule. */
export interface DeliveryRow extends Readonly<Record<MediaKind, DeliveryCell>> {
  readonly clause: string;
  readonly title: string;
  /** Adaptor ids. */
  readonly families: readonly string[];
}

const capable = (place: MediaPlace, ...lines: readonly string[]): CapableModels => ({ place, lines });

/** Where the media of tools goes, by family. Code, tests and README all come from this table. */
export const DELIVERY_MATRIX: readonly DeliveryRow[] = [
  {
    clause: 'DEL-1',
    title: 'Anthropic',
    families: ['anthropic'],
    image: 'tool_result',
    pdf: 'tool_result',
    video: 'no',
    audio: 'no',
  },
  {
    clause: 'DEL-2',
    title: 'Anthropic-compatible',
    families: ['anthropic-compatible'],
    image: 'tool_result',
    pdf: 'tool_result',
    video: capable('user_turn', 'MiniMax'),
    audio: 'no',
  },
  {
    clause: 'DEL-3',
    title: 'Bedrock Converse',
    families: ['aws-bedrock-converse'],
    image: 'tool_result',
    pdf: 'tool_result',
    video: capable('tool_result', 'Nova'),
    audio: 'no',
  },
  {
    clause: 'DEL-4',
    title: 'OpenAI and compatible Responses, Azure Responses',
    families: ['openai-responses', 'azure-openai-responses'],
    image: 'tool_result',
    pdf: 'tool_result',
    video: 'no',
    audio: 'no',
  },
  {
    clause: 'DEL-5',
    title: 'OpenAI Chat',
    families: ['openai-chat'],
    image: 'user_turn',
    pdf: 'user_turn',
    video: 'no',
    audio: 'no',
  },
  {
    clause: 'DEL-6',
    title: 'Azure Chat',
    families: ['azure-openai-chat'],
    image: 'user_turn',
    pdf: 'no',
    video: 'no',
    audio: 'no',
  },
  {
    clause: 'DEL-7',
    title: 'OpenAI-compatible Chat',
    families: ['openai-compatible'],
    image: 'user_turn',
    pdf: 'user_turn',
    video: capable('user_turn', 'Kimi', 'Qwen'),
    audio: 'no',
  },
  {
    clause: 'DEL-8',
    title: 'Gemini, Vertex Gemini',
    families: ['google-gemini', 'google-vertex-gemini'],
    image: 'user_turn',
    pdf: 'user_turn',
    video: 'user_turn',
    audio: 'user_turn',
  },
  {
    clause: 'DEL-9',
    title: 'Cohere',
    families: ['cohere-v2-chat'],
    image: 'user_turn',
    pdf: 'no',
    video: 'no',
    audio: 'no',
  },
];

const BY_FAMILY: ReadonlyMap<string, DeliveryRow> = new Map(
  DELIVERY_MATRIX.flatMap((row) => row.families.map((family) => [family, row] as const)),
);

/** What the matrix says of a family and a kind; `no` for a family that it does not know (MED-3). */
export const deliveryCell = (family: string, kind: MediaKind): DeliveryCell =>
  BY_FAMILY.get(family)?.[kind] ?? 'no';

/** Where a model's family takes a kind; null for nowhere. Whether the model takes it is another question (MED-2). */
export function placeOf(
  { id, family }: Pick<ModelInfo, 'id' | 'family'>,
  kind: MediaKind,
): MediaPlace | null {
  const cell = deliveryCell(family, kind);
  if (typeof cell === 'string') return cell === 'no' ? null : cell;
  const name = id.toLowerCase();
  return cell.lines.some((line) => name.includes(line.toLowerCase())) ? cell.place : null;
}
