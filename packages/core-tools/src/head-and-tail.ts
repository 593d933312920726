/**
 * Keeps the beginning and the end of a text that comes in chunks, never more than twice `maxLength` UTF-16 units at once.
 * Nothing is left out of a text of at most `maxLength`.
 */
export class HeadAndTail {
  readonly #headLength: number;
  readonly #tailLength: number;
  #head = '';
  #tail = '';
  #omitted = 0;

  constructor(maxLength: number) {
    this.#tailLength = Math.floor(maxLength / 2);
    this.#headLength = maxLength - this.#tailLength;
  }

  push(text: string): void {
    const room = this.#headLength - this.#head.length;
    this.#head += text.slice(0, room);
    this.#tail += text.slice(room);
    // Cut only now and then: cutting at every chunk would copy the tail each time.
    if (this.#tail.length > 2 * this.#tailLength) this.#cutTail();
  }

  get isEmpty(): boolean {
    return this.#head === '';
  }

  toString(): string {
    if (this.#tail.length > this.#tailLength) this.#cutTail();
    if (this.#omitted === 0) return this.#head + this.#tail;
    // Half a character at either side of the gap would be garbage.
    return `${this.#head.toWellFormed()}\n[… ${this.#omitted} characters omitted]\n${this.#tail.toWellFormed()}`;
  }

  #cutTail(): void {
    const over = this.#tail.length - this.#tailLength;
    this.#omitted += over;
    this.#tail = this.#tail.slice(over);
  }
}
