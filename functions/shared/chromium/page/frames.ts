import { setTimeout as sleep } from 'node:timers/promises';
import type { CDPSession, Protocol } from 'puppeteer-core';
import { ConversionError } from '../../errors.ts';

type Screenshot = Protocol.HeadlessExperimental.ScreenshotParams;

/** The frames of one page: the browser makes none by itself, so that one that is waited for comes at once. */
export interface Frames {
  /** Begins to make frames, 60 a second as on a screen; they are laid out, but not drawn, for nobody looks. */
  start(): void;
  /** Makes frames as fast as can be until some work is done that waits for them. */
  expedite<Value>(work: Promise<Value>): Promise<Value>;
  /** Draws the frames, too, until some work is done. */
  draw<Value>(work: Promise<Value>): Promise<Value>;
  /** Makes a picture of the next frame; frames must be made, and one picture at a time. */
  shoot(screenshot: Screenshot): Promise<Buffer>;
  stop(): void;
}

/** Milliseconds between two frames. */
const INTERVAL = 1000 / 60;
/** The same in a expedite, after a frame that showed nothing new. */
const SHORT = 1;
/** Milliseconds in which frames may have no picture although one is wanted: the page has not come by the new size yet. */
const PATIENCE = 5000;

/** Makes the frames of a page that was opened with control over them. */
export function framesOf(protocol: CDPSession): Frames {
  let running: symbol | undefined;
  let hurried = 0;
  let drawn = 0;
  let wanted: { readonly screenshot: Screenshot; settle(frame?: Frame): void } | undefined;
  let wake = () => {};

  async function run(own: symbol): Promise<void> {
    // The first one at once: a document that has had none has no picture.
    for (let pause = 0; running === own; ) {
      await rest(hurried > 0 ? Math.min(pause, SHORT) : pause);
      if (running !== own) return;
      const started = performance.now();
      const shot = wanted;
      // A frame may fail while the page goes on to another document.
      const frame = await protocol
        .send('HeadlessExperimental.beginFrame', {
          noDisplayUpdates: drawn === 0,
          ...(shot && { screenshot: shot.screenshot }),
        })
        .catch(() => undefined);
      shot?.settle(frame);
      pause = hurried > 0 && frame?.hasDamage ? 0 : Math.max(SHORT, started + INTERVAL - performance.now());
    }
  }

  async function rest(time: number): Promise<void> {
    if (time <= 0) return;
    const expedite = new AbortController();
    wake = () => expedite.abort();
    await sleep(time, undefined, { signal: expedite.signal }).catch(() => {});
  }

  function expedite<Value>(work: Promise<Value>): Promise<Value> {
    hurried += 1;
    wake();
    return work.finally(() => {
      hurried -= 1;
    });
  }

  function draw<Value>(work: Promise<Value>): Promise<Value> {
    drawn += 1;
    return work.finally(() => {
      drawn -= 1;
    });
  }

  async function shoot(screenshot: Screenshot): Promise<Buffer> {
    const shot = Promise.withResolvers<string>();
    const end = performance.now() + PATIENCE;
    const settle = (frame?: Frame) => {
      if (!frame?.screenshotData && performance.now() < end) return;
      wanted = undefined;
      if (frame?.screenshotData) shot.resolve(frame.screenshotData);
      else shot.reject(new ConversionError('CONVERSION_FAILED', 'The page could not be shown.'));
    };
    wanted = { screenshot, settle };
    return Buffer.from(await draw(expedite(shot.promise)), 'base64');
  }

  return {
    start: () => {
      if (running) return;
      running = Symbol();
      run(running);
    },
    ...{ expedite, draw, shoot },
    stop: () => {
      running = undefined;
      wake();
    },
  };
}

type Frame = Protocol.HeadlessExperimental.BeginFrameResponse;
