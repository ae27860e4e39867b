import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol } from 'puppeteer-core';
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';
import { ConversionError } from '../../../shared/errors.ts';

type Screenshot = Protocol.HeadlessExperimental.ScreenshotParams;
type Frame = Protocol.HeadlessExperimental.BeginFrameResponse;

/** The frames of one page. The browser produces none by itself, so any frame can be produced immediately. */
export interface Frames {
  /** Starts producing 60 frames per second. They run layout and callbacks but are not drawn. */
  start(): void;
  /** Produces frames as fast as possible until `work`, which waits for one, is done. */
  expedite<Value>(work: Promise<Value>): Promise<Value>;
  /** Also draws the frames until `work` is done. */
  draw<Value>(work: Promise<Value>): Promise<Value>;
  /**
   * Produces one frame, for callers that stopped the regular frames and control the timing themselves. Returns whether it
   * differs from the previous one, if it is drawn.
   */
  step(isDrawn: boolean): Promise<boolean>;
  /** Makes frames read the page's virtual clock, milliseconds, instead of the real one. */
  useClock(clock: () => number): void;
  /** Takes a screenshot of the next frame. Regular frames must be running; one screenshot at a time. */
  screenshot(screenshot: Screenshot): Promise<Buffer>;
  stop(): void;
}

interface Production {
  readonly screenshot?: Screenshot | undefined;
  /** Whether the frame is drawn. Only such a frame tells whether it has changed. */
  readonly isDrawn?: boolean;
}

/** Interval between two frames in milliseconds. */
export const FRAME_INTERVAL = 1000 / 60;
/** Interval between two frames while expediting, after a frame that changed nothing, in milliseconds. */
const SHORT_INTERVAL = 1;
/** Timeout in milliseconds for a frame that can be captured. There is none while the page adapts to a new size. */
const SCREENSHOT_TIMEOUT = 5000;
/**
 * Timeout in milliseconds after which a frame is assumed to be stuck, as Chromium's sometimes are during a
 * navigation.
 */
const STUCK_TIME = 8000;

/**
 * Controls the frames of a page that was opened with `enableBeginFrameControl`. `onStuck` is called when a frame
 * takes so long that it may never end, which blocks all later ones.
 */
export function framesOf(
  protocol: CDPSession,
  onStuck: (isPending: () => boolean) => void = () => {},
): Frames {
  let running: symbol | undefined;
  let expediting = 0;
  let drawing = 0;
  let requested: { readonly screenshot: Screenshot; settle(frame?: Frame): void } | undefined;
  let clock: (() => number) | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let wake = () => {};

  /** Produces one frame after the previous one has ended, because the browser rejects two at a time. */
  function produce({ screenshot, isDrawn = drawing > 0 }: Production = {}): Promise<Frame | undefined> {
    const frame = last.then(async () => {
      let isPending = true;
      const stuck = setInterval(onStuck, STUCK_TIME, () => isPending);
      try {
        return await protocol.send('HeadlessExperimental.beginFrame', {
          ...(clock && { frameTimeTicks: clock() }),
          noDisplayUpdates: !isDrawn,
          ...(screenshot && { screenshot }),
        });
      } catch {
        // A frame may fail while the page navigates to another document.
        return undefined;
      } finally {
        isPending = false;
        clearInterval(stuck);
      }
    });
    last = frame;
    return frame;
  }

  async function run(own: symbol): Promise<void> {
    // The first frame comes immediately, because a document without a frame cannot be captured.
    for (let pause = 0; running === own; ) {
      await rest(expediting > 0 ? Math.min(pause, SHORT_INTERVAL) : pause);
      // Cancelled work may start frames of a page that has been closed.
      if (running !== own || protocol.detached) return;
      const started = performance.now();
      const request = requested;
      const frame = await produce({ screenshot: request?.screenshot });
      request?.settle(frame);
      const changed = expediting > 0 && frame?.hasDamage;
      pause = changed ? 0 : Math.max(SHORT_INTERVAL, started + FRAME_INTERVAL - performance.now());
    }
  }

  async function rest(time: number): Promise<void> {
    if (time <= 0) return;
    const woken = new AbortController();
    wake = () => woken.abort();
    await sleep(time, undefined, { signal: woken.signal }).catch(() => {});
  }

  function expedite<Value>(work: Promise<Value>): Promise<Value> {
    expediting += 1;
    wake();
    return work.finally(() => {
      expediting -= 1;
    });
  }

  function draw<Value>(work: Promise<Value>): Promise<Value> {
    drawing += 1;
    return work.finally(() => {
      drawing -= 1;
    });
  }

  async function takeScreenshot(screenshot: Screenshot): Promise<Buffer> {
    const captured = Promise.withResolvers<string>();
    const end = performance.now() + SCREENSHOT_TIMEOUT;
    const settle = (frame?: Frame) => {
      if (!frame?.screenshotData && performance.now() < end) return;
      requested = undefined;
      if (frame?.screenshotData) captured.resolve(frame.screenshotData);
      else captured.reject(new ConversionError('CONVERSION_FAILED', 'The page could not be captured.'));
    };
    // The first drawn frame after undrawn ones may still show what was drawn before them.
    await draw(last.then(() => produce()));
    requested = { screenshot, settle };
    return Buffer.from(await draw(expedite(captured.promise)), 'base64');
  }

  return {
    start: () => {
      if (running) return;
      running = Symbol();
      run(running);
    },
    expedite,
    draw,
    screenshot: takeScreenshot,
    step: async (isDrawn) => (await produce({ isDrawn }))?.hasDamage === true,
    useClock: (virtual) => {
      clock = virtual;
    },
    stop: () => {
      running = undefined;
      wake();
    },
  };
}
