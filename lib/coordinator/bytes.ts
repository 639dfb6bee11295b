/** Appends to a buffer that grows. Numbers take as many bytes as they need, seven bits in each. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafe(Math.max(capacity, 64));
  }

  /** A whole number from 0 to 2^53 - 1. */
  number(value: number): void {
    this.#reserve(8);
    while (value > 127) {
      this.#buffer[this.#length++] = (value % 128) + 128;
      value = Math.floor(value / 128);
    }
    this.#buffer[this.#length++] = value;
  }

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.number(bytes);
    this.#reserve(bytes);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** One byte of each value. */
  plane(values: Int32Array, shift: number): void {
    this.#reserve(values.length);
    const buffer = this.#buffer;
    const start = this.#length;
    for (let index = 0; index < values.length; index++) {
      buffer[start + index] = values[index]! >> shift;
    }
    this.#length += values.length;
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}

/** Reads what a `ByteWriter` wrote, and refuses anything else with the error that it was given. */
export class ByteReader {
  #position = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly problem: (reason: string) => Error,
  ) {}

  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.#position++];
      if (byte === undefined) throw this.problem('it ends too early');
      value += (byte % 128) * factor;
      if (!Number.isSafeInteger(value)) throw this.problem('it has a number out of range');
      if (byte < 128) return value;
    }
  }

  text(): string {
    const length = this.number();
    this.assertLeft(length);
    return this.bytes.toString('utf8', this.#position, (this.#position += length));
  }

  plane(into: Int32Array, shift: number): void {
    this.assertLeft(into.length);
    const { bytes } = this;
    const start = this.#position;
    for (let index = 0; index < into.length; index++)
      into[index]! |= bytes[start + index]! << shift;
    this.#position += into.length;
  }

  end(): void {
    if (this.#position !== this.bytes.length) throw this.problem('it is longer than it should be');
  }

  /** To be asked before room is made for what a malformed document merely claims. */
  assertLeft(bytes: number): void {
    if (this.bytes.length - this.#position < bytes) throw this.problem('it ends too early');
  }
}
