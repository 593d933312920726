import { cutBefore } from './utf8.ts';

const NOTHING = new Uint8Array(0);

/** How much of a call's output is still stored (OUT-21). Once something was left out, everything after it is. */
export class CaptureBudget {
  #left: number;
  #missing = 0;

  constructor(maxBytes: number) {
    this.#left = maxBytes;
  }

  /** Bytes that were left out. */
  get missing(): number {
    return this.#missing;
  }

  /** The part of `bytes` that is to be stored: whole code points from the start. */
  take(bytes: Uint8Array): Uint8Array {
    const taken = this.#missing > 0 ? NOTHING : bytes.subarray(0, cutBefore(bytes, this.#left));
    this.#left -= taken.length;
    this.#missing += bytes.length - taken.length;
    return taken;
  }
}
