import { modelError, type AgentdError, type ModelErrorCode } from '@agentd/contract';

/** What a note says of a file that goes no more. */
export const REFUSED = 'the provider refused a request with it';

/** Words of providers for a file that they would not take: "image exceeds 5 MB", "Could not process image". */
const MEDIA_WORDS =
  /image|picture|photo|pixel|vision|pdf|\bdocuments?\b|video|audio|media|multimodal|attachment|\bfiles?\b|inline_?data|mime|base64/i;

/** Statuses of a request that is refused for what it holds; a fault in a stream has none. */
const CONTENT_STATUSES: ReadonlySet<unknown> = new Set([400, 415, 422, undefined]);

/**
 * What a model made of the files that it was sent, for the life of a gateway. A file that was refused stays in every
 * later request of the history, so that without this one refusal would end a session for good. Whoever keeps the history
 * keeps `details.refusedFiles` of the errors with it, and says so in later requests: then another process knows as well.
 */
export class MediaMemory {
  readonly #taken = new Set<string>();
  readonly #refused = new Map<string, string>();

  /** By SHA-256, with the reason. */
  get refused(): ReadonlyMap<string, string> {
    return this.#refused;
  }

  /** The turn that these files were sent for is whole. */
  take(digests: Iterable<string>): void {
    for (const digest of digests) this.#taken.add(digest);
  }

  /**
   * What to throw for a failed attempt: where the provider seems to have refused a file, an error that says to try
   * again, and then those of the files go as notes that it had not taken before; all of them where it had.
   */
  faultOf(fault: AgentdError<ModelErrorCode>, digests: readonly string[]): AgentdError<ModelErrorCode> {
    const { status } = fault.details as { readonly status?: number };
    const isContent = fault.code === 'MODEL_REFUSED' && CONTENT_STATUSES.has(status);
    if (!isContent || digests.length === 0 || !MEDIA_WORDS.test(fault.message)) return fault;
    const fresh = digests.filter((digest) => !this.#taken.has(digest));
    const refusedFiles = fresh.length > 0 ? fresh : digests;
    for (const digest of refusedFiles) this.#refused.set(digest, REFUSED);
    const text = `${fault.message}; what it had not taken before is named and not sent from now on`;
    return modelError('MODEL_UNAVAILABLE', text, {
      cause: fault,
      refusedFiles,
      ...(status === undefined ? {} : { status }),
    });
  }
}
