/** Future events in the order of their times (a binary heap). */
export class Events {
  readonly #heap: Array<{ readonly time: number; readonly happen: (time: number) => void }> = [];

  add(time: number, happen: (time: number) => void): void {
    const heap = this.#heap;
    let place = heap.push({ time, happen }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (heap[parent]!.time <= time) break;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** Runs all events until none is left. */
  run(): void {
    for (let event = this.#take(); event; event = this.#take()) event.happen(event.time);
  }

  #take() {
    const heap = this.#heap;
    if (heap.length === 0) return undefined;
    this.#swap(0, heap.length - 1);
    const first = heap.pop()!;
    for (let place = 0; ; ) {
      const left = 2 * place + 1;
      const right = left + 1;
      let least = place;
      if (left < heap.length && heap[left]!.time < heap[least]!.time) least = left;
      if (right < heap.length && heap[right]!.time < heap[least]!.time) least = right;
      if (least === place) return first;
      this.#swap(place, least);
      place = least;
    }
  }

  #swap(one: number, other: number): void {
    const heap = this.#heap;
    [heap[one], heap[other]] = [heap[other]!, heap[one]!];
  }
}
