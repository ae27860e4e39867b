/** The sandboxes of one deployed function. Each runs one call at a time and ends when idle for too long. */
export class Sandboxes {
  /** Started so far. */
  started = 0;
  busy = 0;
  /** When each idle sandbox was last used, the latest at the end. */
  readonly #idle: number[] = [];
  readonly #idleLife: number;

  constructor(idleLife: number) {
    this.#idleLife = idleLife;
  }

  /** Takes a warm sandbox if there is one, and returns whether there was. */
  take(time: number): boolean {
    this.busy += 1;
    const used = this.#idle.pop();
    if (used !== undefined && time - used < this.#idleLife) return true;
    // All others were used even earlier.
    this.#idle.length = 0;
    this.started += 1;
    return false;
  }

  giveBack(time: number): void {
    this.busy -= 1;
    this.#idle.push(time);
  }
}
