import {
  declarationProblem,
  isUuid,
  streamsOf,
  type ArtifactAddress,
  type ArtifactPage,
  type ArtifactPageRequest,
  type ArtifactReader,
  type BlobReader,
  type CaptureRequest,
  type CaptureResult,
  type Clock,
  type Ids,
  type KeptFiles,
  type OutputCapture,
  type OutputStore,
} from '@agentd/contract';
import { mkdir } from 'node:fs/promises';
import { parseArtifactUri, storedReference } from './artifact-uri.ts';
import type { BlobBackend } from './blob-backend.ts';
import { CaptureBudget } from './capture-budget.ts';
import { adoptCaptureFiles, createCaptureFiles } from './capture-files.ts';
import type { CollectionReport, CollectionRequest } from './collection.ts';
import { FaultLatch, storeError } from './errors.ts';
import { fileBackend } from './file-backend.ts';
import type { SharedFileLocks } from './file-locks.ts';
import { CallOutputCapture } from './output-capture.ts';
import { Janitor } from './janitor.ts';
import { limitsProblem } from './output-limits.ts';
import { PageReader } from './page-reader.ts';
import { PublicationGuard } from './publication-guard.ts';
import { Publisher } from './publication.ts';
import { StreamCapture, type CallCapture } from './stream-capture.ts';
import { sweepTemporaryFiles } from './sweep.ts';
import type { TemporaryFile } from './temporary-file.ts';
import { VerifiedBlobs, wholeBlob } from './verified-blobs.ts';

export interface ArtifactStoreOptions {
  /** Absolute path. It is created with mode 0700 where it is missing, and belongs to the store alone. */
  readonly folder: string;
  readonly locks: SharedFileLocks;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where the blobs are; the folder itself when absent. Captures and the guard are in the folder in any case. */
  readonly backend?: BlobBackend;
}

/**
 * Blobs that are named by their SHA-256; any number of processes may share them. It keeps what tools produce
 * and reads it back, by page or whole: `OutputStore`, `ArtifactReader` and `BlobReader` say what each method owes.
 */
export class ArtifactStore implements OutputStore, ArtifactReader, BlobReader {
  readonly #options: ArtifactStoreOptions;
  readonly #publisher: Publisher;
  readonly #blobs: VerifiedBlobs;
  readonly #pages: PageReader;
  readonly #janitor: Janitor;
  #sweeping: Promise<number> = Promise.resolve(0);

  /** Touches no file; `openArtifactStore` also prepares the folder. */
  constructor(options: ArtifactStoreOptions) {
    this.#options = options;
    const backend = options.backend ?? fileBackend(options);
    const blobs = new VerifiedBlobs(backend);
    this.#blobs = blobs;
    const guard = new PublicationGuard(options);
    this.#publisher = new Publisher({ backend, blobs, guard });
    this.#pages = new PageReader(blobs);
    this.#janitor = new Janitor({ folder: options.folder, backend, guard, clock: options.clock });
  }

  /** Rejects for misuse alone: a call id that is no UUID, a declaration against OUT-1, a limit against OUT-15. */
  readonly capture = async (request: CaptureRequest): Promise<OutputCapture> => {
    const call = callCapture(request);
    const files = await orFault(call.fault, () => createCaptureFiles(request, this.#options));
    return this.#outputCapture(call, files);
  };

  readonly recover = async (request: CaptureRequest): Promise<CaptureResult | null> => {
    const call = callCapture(request);
    const files = await orFault(call.fault, () => adoptCaptureFiles(request, this.#options));
    if (files === null && !call.fault.tripped) return null;
    const capture = this.#outputCapture(call, files);
    await orFault(call.fault, () => capture.restore());
    return capture.finish({ incomplete: true });
  };

  readonly keep = async (files: readonly Uint8Array[]): Promise<KeptFiles> => {
    const { digests, guard } = await this.#publisher.keepAll(files);
    const kept = digests.map((sha256) => ({ sha256, reference: storedReference(sha256) }));
    return { files: kept, release: () => guard.release() };
  };

  readonly blob = (sha256: string, signal: AbortSignal): Promise<Uint8Array> =>
    this.#blobs.use(sha256, signal, (blob) => wholeBlob(blob, signal));

  readonly parse = (uri: string): ArtifactAddress => parseArtifactUri(uri);

  readonly page = (request: ArtifactPageRequest, signal: AbortSignal): Promise<ArtifactPage> =>
    this.#pages.page(request, signal);

  /**
   * Removes what the logs do not refer to and says what it removed and kept (ART-9). Waits for nobody: while output is
   * being published it does nothing. Never rejects but with the signal's reason; a later pass goes on where it stopped.
   */
  readonly collect = (request: CollectionRequest, signal: AbortSignal): Promise<CollectionReport> =>
    this.#janitor.collect(request, signal);

  /** Removes what dead processes left more than an hour ago; resolves with the number of files (ART-11). */
  sweep(): Promise<number> {
    this.#sweeping = this.#sweeping.then(() => sweepTemporaryFiles(this.#options));
    return this.#sweeping;
  }

  /** Resolves once nothing runs in the background. Captures are their callers' to end. */
  async close(): Promise<void> {
    await this.#sweeping;
  }

  #outputCapture(call: CallCapture, files: readonly TemporaryFile[] | null): CallOutputCapture {
    const streams = streamsOf(call.declaration).map(
      (name, index) => new StreamCapture(name, files?.[index] ?? null, call),
    );
    return new CallOutputCapture(streams, call, this.#publisher);
  }
}

/**
 * Opens the store of a folder and begins its start-up sweep, which `close` awaits (ART-11).
 * Does not fail for a folder that cannot be used: the captures then say why they store nothing (OUT-13).
 */
export async function openArtifactStore(options: ArtifactStoreOptions): Promise<ArtifactStore> {
  const store = new ArtifactStore(options);
  try {
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
  } catch {
    return store; // Each capture tries again and tells the reason.
  }
  void store.sweep();
  return store;
}

function callCapture({ callId, declaration, limits }: CaptureRequest): CallCapture {
  if (!isUuid(callId)) throw storeError('ARTIFACT_STORE_CALL_ID', `${JSON.stringify(callId)} is not a UUID`);
  const problem = declarationProblem(declaration);
  if (problem !== undefined) throw storeError('ARTIFACT_STORE_DECLARATION', problem);
  const limit = limitsProblem(limits);
  if (limit !== undefined) throw storeError('ARTIFACT_STORE_LIMITS', limit);
  return { declaration, limits, budget: new CaptureBudget(limits.maxCaptureBytes), fault: new FaultLatch() };
}

async function orFault<Value>(fault: FaultLatch, work: () => Promise<Value>): Promise<Value | null> {
  try {
    return await work();
  } catch (error) {
    fault.trip(error);
    return null;
  }
}
