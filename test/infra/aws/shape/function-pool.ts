import type { Answer } from './runtime-api.ts';
import { type FunctionShape, type Host, Sandbox } from './sandbox.ts';

/** Sandboxes of one function that share this machine. */
const MOST = 4;

/** One deployed function: reuses a warm sandbox where one is free, starts another where none is, as Lambda does. */
export class FunctionPool {
  /** Sandboxes started so far. */
  started = 0;
  /** Highest MiB seen in any of them. */
  memory = 0;
  /** Milliseconds of processor that the last event took, its sandbox's start included. */
  processor = 0;
  readonly #shape: FunctionShape;
  readonly #host: Host;
  readonly #idle: Sandbox[] = [];
  readonly #all = new Set<Sandbox>();
  readonly #waiting: Array<() => void> = [];
  #running = 0;

  constructor(shape: FunctionShape, host: Host) {
    this.#shape = shape;
    this.#host = host;
  }

  /** Runs an event; where Lambda would start any number of sandboxes, those past `MOST` wait for their turn. */
  async invoke(event: unknown): Promise<Answer> {
    while (this.#running >= MOST) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      return await this.#run(event);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #run(event: unknown): Promise<Answer> {
    const sandbox = this.#idle.pop() ?? this.#start();
    try {
      // A cold sandbox counts from its start, which has not ended yet.
      const before = sandbox.processor;
      const answer = await sandbox.invoke(event);
      this.processor = sandbox.processor - before;
      this.memory = Math.max(this.memory, sandbox.memory);
      this.#idle.push(sandbox);
      return answer;
    } catch (error) {
      this.memory = Math.max(this.memory, sandbox.memory);
      this.#all.delete(sandbox);
      throw error;
    }
  }

  /** Ends every sandbox, so that the next event meets a cold function. */
  cool(): void {
    for (const sandbox of this.#all) sandbox.kill('Runtime.Shutdown');
    this.#all.clear();
    this.#idle.length = 0;
  }

  #start(): Sandbox {
    this.started += 1;
    const sandbox = new Sandbox(this.#shape, this.#host);
    this.#all.add(sandbox);
    return sandbox;
  }
}
