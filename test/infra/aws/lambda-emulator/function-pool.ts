import { Refusal } from '../lambda-endpoint.ts';
import type { Answer } from './runtime-api.ts';
import { type FunctionShape, type Host, Sandbox } from './sandbox.ts';

/** Sandboxes of one function that share this machine; routers do little but wait. */
const MOST = 4;
const MOST_ROUTERS = 24;

/** One deployed function: reuses a warm sandbox where one is free, starts another where none is, as Lambda does. */
export class FunctionPool {
  /** Sandboxes started so far. */
  started = 0;
  /** Events taken so far. */
  events = 0;
  /** Connections to the Runtime APIs of sandboxes that are gone, by others than their runtime. */
  #visited = 0;
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

  /** Sandboxes that are not gone. */
  get sandboxes(): readonly Sandbox[] {
    return [...this.#all].filter(({ over }) => !over);
  }

  /** Connections to their Runtime APIs by others than their runtime. */
  get visitors(): number {
    return [...this.#all].reduce((sum, { visitors }) => sum + visitors, this.#visited);
  }

  /**
   * Runs an event; where Lambda would start any number of sandboxes, those past our most wait for their turn.
   * @throws Refusal where a number is reserved and all of that are busy, as Lambda does.
   */
  async invoke(event: unknown): Promise<Answer> {
    const { reserved, name } = this.#shape;
    const most = name === 'router' ? MOST_ROUTERS : MOST;
    this.events += 1;
    if (reserved !== undefined && this.#running >= reserved)
      throw new Refusal(429, 'TooManyRequestsException');
    while (reserved === undefined && this.#running >= most)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      return await this.#run(event);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #run(event: unknown): Promise<Answer> {
    const sandbox = this.#warm() ?? this.#start();
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
      this.#forget(sandbox);
      throw error;
    }
  }

  /** Ends every sandbox, so that the next event meets a cold function. */
  cool(): void {
    for (const sandbox of this.#all) {
      sandbox.kill('Runtime.Shutdown');
      this.#forget(sandbox);
    }
    this.#idle.length = 0;
  }

  /** One that waits, and did not end while it did. */
  #warm(): Sandbox | undefined {
    for (;;) {
      const sandbox = this.#idle.pop();
      if (!sandbox?.over) return sandbox;
      this.#forget(sandbox);
    }
  }

  #forget(sandbox: Sandbox): void {
    if (this.#all.delete(sandbox)) this.#visited += sandbox.visitors;
  }

  #start(): Sandbox {
    this.started += 1;
    const sandbox = new Sandbox(this.#shape, this.#host);
    this.#all.add(sandbox);
    return sandbox;
  }
}
