import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession } from 'puppeteer-core';

/** The frames of one page: the browser makes none by itself, so that one that is waited for comes at once. */
export interface Frames {
  /** Begins to make frames, 60 a second as on a screen; they are laid out, but not drawn, for nobody looks. */
  start(): void;
  /** Makes frames as fast as can be until some work is done that waits for them. */
  hurry<Value>(work: Promise<Value>): Promise<Value>;
  /** Draws the frames, too, until some work is done. */
  draw<Value>(work: Promise<Value>): Promise<Value>;
  stop(): void;
}

/** Milliseconds between two frames. */
const INTERVAL = 1000 / 60;
/** The same in a hurry, after a frame that showed nothing new. */
const SHORT = 1;

/** Makes the frames of a page that was opened with control over them. */
export function framesOf(protocol: CDPSession): Frames {
  let running = false;
  let hurried = 0;
  let drawn = 0;
  let wake = () => {};

  async function run(): Promise<void> {
    for (let pause = INTERVAL; running; ) {
      await rest(hurried > 0 ? Math.min(pause, SHORT) : pause);
      if (!running) return;
      const started = performance.now();
      // A frame may fail while the page goes on to another document.
      const frame = await protocol
        .send('HeadlessExperimental.beginFrame', { noDisplayUpdates: drawn === 0 })
        .catch(() => undefined);
      pause = hurried > 0 && frame?.hasDamage ? 0 : Math.max(SHORT, started + INTERVAL - performance.now());
    }
  }

  async function rest(time: number): Promise<void> {
    if (time <= 0) return;
    const hurry = new AbortController();
    wake = () => hurry.abort();
    await sleep(time, undefined, { signal: hurry.signal }).catch(() => {});
  }

  return {
    start: () => {
      running = true;
      run();
    },
    hurry: (work) => {
      hurried += 1;
      wake();
      return work.finally(() => {
        hurried -= 1;
      });
    },
    draw: (work) => {
      drawn += 1;
      return work.finally(() => {
        drawn -= 1;
      });
    },
    stop: () => {
      running = false;
      wake();
    },
  };
}
