import { modelError, type AgentdError, type ModelErrorCode } from '@agentd/contract';

const REASON = 'the provider refused a request with it';

/** Words of providers for a file that they would not take: "image exceeds 5 MB", "Could not process image". */
const MEDIA_WORDS =
  /image|picture|photo|pixel|vision|pdf|document|video|audio|media|multimodal|attachment|file|inline_?data|mime|base64/i;

/** Statuses of a request that is refused for what it holds; a fault in a stream has none. */
const CONTENT_STATUSES: ReadonlySet<unknown> = new Set([400, 415, 422, undefined]);

/**
 * What a model made of the files that it was sent, for the life of a gateway. A file that was refused stays in every
 * later request of the history, so that without this one refusal would end a session for good.
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
    for (const digest of fresh.length > 0 ? fresh : digests) this.#refused.set(digest, REASON);
    const text = `${fault.message}; what it had not taken before is named and not sent from now on`;
    return modelError('MODEL_UNAVAILABLE', text, {
      cause: fault,
      ...(status === undefined ? {} : { status }),
    });
  }
}
