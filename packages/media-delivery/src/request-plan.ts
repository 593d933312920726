import type {
  Attachment,
  MediaKind,
  MediaPlace,
  ModelInfo,
  ModelMessage,
  PlacementOptions,
} from '@agentd/contract';
import { placeOf } from './delivery-matrix.ts';
import { requestNames } from './filename.ts';
import { base64Bytes, limitsOfFamily, maxBytesOf, maxCountOf, roundSize } from './limits.ts';
import { formatOf } from './media-formats.ts';
import { plural } from './wording.ts';

/** What becomes of one attachment in one request. */
export type Decision =
  | { readonly kind: 'file'; readonly place: MediaPlace; readonly filename: string }
  | { readonly kind: 'note'; readonly reason: string };

/** One decision for each attachment of `messages`, in order. Counts and the size of the request favour the newest. */
export function decideDelivery(
  messages: readonly ModelMessage[],
  model: ModelInfo,
  options: PlacementOptions,
): readonly Decision[] {
  const files = messages.flatMap(attachmentsOf);
  if (files.length === 0) return [];
  const room = new RequestRoom(model, textBytes(messages, model) + (options.reservedBytes ?? 0));
  const nameOf = requestNames();
  // Names are given to every file from the oldest on, so that one that becomes a note renames no other.
  const named = files.map((file) => ({ file, filename: nameOf(file) }));
  const decisions: Decision[] = [];
  for (const { file, filename } of named.toReversed()) {
    const found = admissible(file, model, options);
    const reason = typeof found === 'string' ? found : room.take(found.kind, file.byte_length);
    if (reason !== undefined) decisions.push({ kind: 'note', reason });
    else if (typeof found !== 'string') decisions.push({ kind: 'file', place: found.place, filename });
  }
  return decisions.toReversed();
}

/** Where a file could go by itself, or why nowhere. */
function admissible(
  { mime_type, sha256, byte_length }: Attachment,
  model: ModelInfo,
  { withheld }: PlacementOptions,
): { readonly kind: MediaKind; readonly place: MediaPlace } | string {
  const reason = withheld?.get(sha256);
  if (reason !== undefined) return reason;
  const kind = formatOf(mime_type)?.kind;
  if (kind === undefined) return `${mime_type} is no kind that models take`;
  if (!model.input.includes(kind)) return `${model.id} takes no ${plural(kind)}`;
  const place = placeOf(model, kind);
  if (place === null) return `the API family ${model.family} of ${model.id} carries no ${plural(kind)}`;
  const limit = maxBytesOf(model, kind);
  return byte_length <= limit
    ? { kind, place }
    : `${model.id} takes ${plural(kind)} of at most ${roundSize(limit)}`;
}

/** What is left of a request while it is filled from its newest file on (MED-6, MED-11). */
class RequestRoom {
  readonly #model: ModelInfo;
  readonly #counts = new Map<MediaKind, number>();
  readonly #maxBase64: number;
  #base64: number;
  #isFull = false;

  constructor(model: ModelInfo, usedBytes: number) {
    this.#model = model;
    this.#base64 = usedBytes;
    this.#maxBase64 = limitsOfFamily(model.family).requestBase64Bytes ?? Infinity;
  }

  /** Takes a file in; why it has no room, if it has none. */
  take(kind: MediaKind, byteLength: number): string | undefined {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    const maxCount = maxCountOf(this.#model, kind);
    if (count > maxCount) {
      return `a request holds the newest ${maxCount} ${plural(kind)}; read the file again if you need it`;
    }
    const size = this.#base64 + base64Bytes(byteLength);
    // Once one does not fit, every older one stays out as well: what is sent is always the newest.
    this.#isFull ||= size >= this.#maxBase64;
    if (this.#isFull) {
      return `newer files fill the request, which holds ${roundSize(this.#maxBase64)} as base64; read the file again if you need it`;
    }
    this.#counts.set(kind, count);
    this.#base64 = size;
    return undefined;
  }
}

function attachmentsOf(message: ModelMessage): readonly Attachment[] {
  if (message.role === 'assistant') return [];
  if (message.role === 'user') return message.attachments ?? [];
  return message.content.flatMap(({ attachments = [] }) => attachments);
}

/** Only counted where a limit asks for it. */
function textBytes(messages: readonly ModelMessage[], { family }: ModelInfo): number {
  if (limitsOfFamily(family).requestBase64Bytes === undefined) return 0;
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(JSON.stringify(content)), 0);
}
