import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol } from 'puppeteer-core';
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';
import { ConversionError } from '../../../shared/errors.ts';

type Screenshot = Protocol.HeadlessExperimental.ScreenshotParams;
type Frame = Protocol.HeadlessExperimental.BeginFrameResponse;

/** Produces the frames of a page. The browser produces none by itself. */
export interface Frames {
  /** Starts producing 60 frames per second, which run layout and animation callbacks but draw nothing. */
  start(): void;
  /** Produces frames as fast as possible until `work` is done. */
  expedite<Value>(work: Promise<Value>): Promise<Value>;
  /** Draws the frames until `work` is done. */
  draw<Value>(work: Promise<Value>): Promise<Value>;
  /**
   * Produces a single frame while the regular ones are stopped. Returns whether a drawn frame differs from the previous
   * one.
   */
  step(isDrawn: boolean): Promise<boolean>;
  /** Takes the time of frames from `clock`, in milliseconds, instead of the real clock. */
  useClock(clock: () => number): void;
  /** Takes a screenshot of the next frame. Requires regular frames, and no other screenshot in progress. */
  screenshot(screenshot: Screenshot): Promise<Buffer>;
  stop(): void;
}

interface Production {
  readonly screenshot?: Screenshot | undefined;
  /** Whether the frame is drawn. Only drawn frames report whether they changed anything. */
  readonly isDrawn?: boolean;
}

/** Interval between two frames, in milliseconds. */
export const FRAME_INTERVAL = 1000 / 60;
/** Interval between expedited frames after one that changed nothing, in milliseconds. */
const SHORT_INTERVAL = 1;
/** Timeout of a screenshot, in milliseconds. Frames cannot be captured while the page adapts to a new size. */
const SCREENSHOT_TIMEOUT = 5000;
/** Time after which a frame is reported as stuck, in milliseconds. Frames sometimes hang during a navigation. */
const STUCK_TIME = 8000;

/**
 * Controls the frames of a page that was opened with `enableBeginFrameControl`. `onStuck` is called while a frame takes
 * suspiciously long, because a frame that never ends blocks all later ones.
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

  /** Produces a frame once the previous one has ended, because the browser rejects concurrent frames. */
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
        // Frames may fail while the page navigates.
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
    // Produces the first frame immediately, because a document cannot be captured before it.
    for (let pause = 0; running === own; ) {
      await rest(expediting > 0 ? Math.min(pause, SHORT_INTERVAL) : pause);
      // A cancelled conversion may start the frames of a closed page.
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
    // The first drawn frame may still show outdated content, so it is not captured.
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
