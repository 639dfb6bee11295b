/** A heap of positions, the one with the largest value on top, the first of equals. */
export class LargestFirstHeap {
  readonly #heap: Int32Array;
  readonly #placeOf: Int32Array;

  constructor(private readonly values: Float64Array) {
    this.#heap = Int32Array.from(values.keys());
    this.#placeOf = Int32Array.from(values.keys());
    for (let place = (values.length >> 1) - 1; place >= 0; place--) this.#sink(place);
  }

  get top(): number {
    return this.#heap[0]!;
  }

  /** To be called when the value at a position has changed. */
  settle(position: number): void {
    this.#sink(this.#rise(this.#placeOf[position]!));
  }

  #rise(from: number): number {
    const position = this.#heap[from]!;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!this.#isBefore(position, this.#heap[parent]!)) break;
      this.#put(this.#heap[parent]!, place);
      place = parent;
    }
    this.#put(position, place);
    return place;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const position = heap[from]!;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!this.#isBefore(heap[child]!, position)) break;
      this.#put(heap[child]!, place);
      place = child;
    }
    this.#put(position, place);
  }

  #put(position: number, place: number): void {
    this.#heap[place] = position;
    this.#placeOf[position] = place;
  }

  #isBefore(a: number, b: number): boolean {
    const difference = this.values[a]! - this.values[b]!;
    return difference > 0 || (difference === 0 && a < b);
  }
}
