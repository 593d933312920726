import type { CaptureResult, OutputCapture, OutputChunk } from '@agentd/contract';
import { letGoOfAll } from './capture-files.ts';
import { describeStored, describeUnstored } from './capture-result.ts';
import { storeError } from './errors.ts';
import type { Published, PublishedStream } from './publication.ts';
import type { CallCapture, StreamCapture } from './stream-capture.ts';

/** What a capture asks of the store. */
export interface CapturePorts {
  /** Contract: publishes complete files, all or none visible to the caller; holds the guard until released. */
  readonly publish: (streams: readonly PublishedStream[]) => Promise<Published>;
}

/**
 * The output of one call.
 *   C1. Text of a stream is stored in the order in which `accept` was called, awaited or not.
 *   C2. After a storage fault nothing more is stored and the files are gone; previews go on (OUT-13).
 *   C3. The temporary files stay until the result is released: a crash before the event that refers to the output is
 *       on the disk leaves all streams to recover (SES-6).
 */
export class CallOutputCapture implements OutputCapture {
  readonly #streams: readonly StreamCapture[];
  readonly #call: CallCapture;
  readonly #ports: CapturePorts;
  #accepting: Promise<void> = Promise.resolve();
  #ended: Promise<CaptureResult> | 'discarded' | null = null;

  constructor(streams: readonly StreamCapture[], call: CallCapture, ports: CapturePorts) {
    this.#streams = streams;
    this.#call = call;
    this.#ports = ports;
  }

  readonly accept = async (chunks: readonly OutputChunk[]): Promise<void> => {
    if (this.#ended !== null)
      throw storeError('ARTIFACT_STORE_CAPTURE_CLOSED', 'the output was completed before');
    const texts = chunks.map(({ stream = null, text }) => ({ stream: this.#streamOf(stream), text }));
    const accepted = this.#accepting.then(async () => {
      for (const { stream, text } of texts) await stream.accept(text);
      if (this.#call.fault.tripped) await this.#letGoOfFiles();
    });
    this.#accepting = accepted;
    await accepted;
  };

  readonly finish = async ({ incomplete }: { readonly incomplete: boolean }): Promise<CaptureResult> => {
    if (this.#ended === 'discarded') {
      throw storeError('ARTIFACT_STORE_CAPTURE_CLOSED', 'the output was discarded before');
    }
    this.#ended ??= this.#accepting.then(() => this.#finish(incomplete));
    return this.#ended;
  };

  readonly discard = async (): Promise<void> => {
    this.#ended ??= 'discarded';
    if (this.#ended !== 'discarded') return;
    await this.#accepting;
    await this.#letGoOfFiles();
  };

  /** Takes what a dead process had captured, before anything is accepted. */
  async restore(): Promise<void> {
    await Promise.all(this.#streams.map((stream) => stream.restore()));
  }

  async #finish(incomplete: boolean): Promise<CaptureResult> {
    const { fault, limits, budget } = this.#call;
    try {
      const streams = await this.#seal();
      if (!fault.tripped) {
        const published = await this.#ports.publish(streams);
        const described = describeStored({
          streams,
          digest: published.digest,
          limits,
          missing: budget.missing,
          incomplete,
        });
        return { ...described, release: this.#releaser(published) };
      }
    } catch (error) {
      fault.trip(error);
    }
    await this.#letGoOfFiles();
    const text = describeUnstored(this.#streams, limits, fault.reason ?? 'unknown fault');
    return { text, retained: null, release: async () => {} };
  }

  async #seal(): Promise<readonly PublishedStream[]> {
    return Promise.all(this.#streams.map(async (capture) => ({ capture, stored: await capture.seal() })));
  }

  #releaser({ guard }: Published): () => Promise<void> {
    let released: Promise<void> | undefined;
    const release = async (): Promise<void> => {
      await this.#letGoOfFiles();
      await guard.release();
    };
    return () => (released ??= release());
  }

  #streamOf(name: string | null): StreamCapture {
    const stream = this.#streams.find((candidate) => candidate.name === name);
    if (stream !== undefined) return stream;
    const declared = this.#streams.map((candidate) => candidate.name ?? '(single output)').join(', ');
    const wanted = name === null ? 'single output' : `stream ${JSON.stringify(name)}`;
    throw storeError('ARTIFACT_STORE_STREAM_UNDECLARED', `${wanted} was not declared; declared: ${declared}`);
  }

  async #letGoOfFiles(): Promise<void> {
    await letGoOfAll(this.#streams.flatMap(({ file }) => file ?? []));
  }
}
