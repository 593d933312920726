import type { KeptFiles, OutputStore } from '@agentd/contract';
import type { EventSink } from '../ports.ts';
import { elisionOf, type ElidableCall } from './elision.ts';
import { storedBlob, storedOutput } from './stored-output.ts';
import { toolContent } from './tool-content.ts';

export interface ElisionPorts {
  readonly outputs: Pick<OutputStore, 'keep'>;
  readonly sink: EventSink;
}

/** Takes results out of the history, none before its content can be read from the store (SES-8). */
export class ElisionWriter {
  readonly #ports: ElisionPorts;

  constructor(ports: ElisionPorts) {
    this.#ports = ports;
  }

  /** `shown` characters of each stay to be seen. A result that cannot be stored stays as it is. Throws what the log throws. */
  async elide(calls: readonly ElidableCall[], shown: number): Promise<void> {
    if (calls.length === 0) return;
    const { sink } = this.#ports;
    const unstored = calls.filter((call) => storedOutput(call) === null);
    const kept = await this.#keep(unstored);
    try {
      for (const call of calls) {
        const file = kept?.files[unstored.indexOf(call)];
        const stored = file === undefined ? storedOutput(call) : storedBlob(file.sha256);
        if (stored !== null)
          sink.append(elisionOf(call, { stored, isToolContent: file !== undefined, shown }));
      }
      // Only then do events on disk refer to what was stored (ART-10).
      await sink.sync();
    } finally {
      await kept?.release();
    }
  }

  /** Null where there is nothing to store, or the store takes nothing. */
  async #keep(calls: readonly ElidableCall[]): Promise<KeptFiles | null> {
    if (calls.length === 0) return null;
    try {
      return await this.#ports.outputs.keep(calls.map(({ tool, report }) => toolContent(tool, report)));
    } catch {
      return null; // A storage fault: those results stay in the history.
    }
  }
}
