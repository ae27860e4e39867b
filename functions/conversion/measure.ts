import type { Measured, TimedStep } from '../platform/invoke/invoke.ts';
import type { Format } from '../shared/formats.ts';
import type { Converted, Output } from '../shared/tool.ts';

/** Observes conversions, for metrics. */
export interface ConversionObserver {
  started(tool: string): void;
  /** `code` is `OK`, `CANCELLED`, or the code of the error. */
  ended(tool: string, code: string, measured: Measured): void;
}

/** Maximum steps in a trace. A conversion of many pages waits for many workers. */
const MAX_TIMED = 50;

/** Measures one conversion while it runs. */
export class Measurement {
  sourceBytes = 0;
  /** The downloaded source, if there is one. */
  sourcePath: string | undefined;
  resultBytes = 0;
  #pages = 0;
  readonly #started = performance.now();
  readonly #steps = new Map<string, number>();
  readonly #timed: TimedStep[] = [];

  /** Adds milliseconds to a step that has just ended. Without waiting, it took less than its `duration`. */
  add(step: string, milliseconds: number, duration = milliseconds): void {
    this.#steps.set(step, (this.#steps.get(step) ?? 0) + milliseconds);
    if (this.#timed.length < MAX_TIMED)
      this.#timed.push({ step, at: Date.now() - duration, milliseconds: duration });
  }

  /** Adds the duration of `work` to a step in milliseconds, without the time spent waiting for a worker. */
  async time<Value>(step: string, work: () => Promise<Value>): Promise<Value> {
    const started = performance.now();
    const queued = this.#steps.get('queue') ?? 0;
    try {
      return await work();
    } finally {
      const duration = performance.now() - started;
      this.add(step, duration - ((this.#steps.get('queue') ?? 0) - queued), duration);
    }
  }

  /** Yields the outputs and counts their pages. A PDF has the pages of the document unless it says otherwise, other files one. */
  async *pagesOf({ outputs, pageCount }: Converted, format: Format): AsyncGenerator<Output> {
    for await (const output of outputs) {
      this.#pages += output.pages ?? (format === 'pdf' ? (pageCount ?? 1) : 1);
      yield output;
    }
  }

  /** Returns the measurements so far. Concurrent waits of one conversion can add up to more than its duration. */
  result(): Measured {
    const total = performance.now() - this.#started;
    const steps = [...this.#steps].map(([name, milliseconds]) => [name, tenth(Math.max(0, milliseconds))]);
    return {
      sourceBytes: this.sourceBytes,
      resultBytes: this.resultBytes,
      pages: this.#pages,
      milliseconds: tenth(total),
      steps: Object.fromEntries(steps),
      timed: this.#timed,
    };
  }
}

function tenth(milliseconds: number): number {
  return Math.round(10 * milliseconds) / 10;
}
