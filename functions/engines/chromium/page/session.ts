import { isDeepStrictEqual } from 'node:util';
import type { CDPSession } from 'puppeteer-core/internal/api/CDPSession.js';
import type { Relay } from '../proxy/relay.ts';
import type { Frames } from './frames.ts';

/** How sessions of workers are opened: each waits for `Runtime.runIfWaitingForDebugger`. */
export const AUTO_ATTACH = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true } as const;

/** The window in which a page is laid out. */
export interface Viewport {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly scale: number;
  /** Whether the page's own `<meta name=viewport>` is applied, as on phones. */
  readonly mobile?: boolean;
  /** Size that `screen` reports. The browser has a default. */
  readonly screen?: { readonly width: number; readonly height: number } | undefined;
}

/** A page in its own browser context. */
export interface Session {
  readonly protocol: CDPSession;
  readonly relay: Relay;
  readonly frames: Frames;
  viewport: Viewport | undefined;
  /** ID of the page itself, not of a frame inside it. */
  readonly frameId: string;
  /** Script context of `evaluate` in the current document. It is opened while the document loads. */
  world: Promise<number>;
  /** Whether anything has been animated by CSS or a script, even in shadow trees. */
  hasAnimations: boolean;
  /** Whether any workers are running, except service workers. */
  hasWorkers(): Promise<boolean>;
  /** Returns the IDs of the browser's processes. */
  processes(): Promise<readonly number[]>;
  /** Returns the CPU time of the browser's processes in milliseconds. */
  processorTime(): Promise<number>;
  /** Whether the page's clock is stopped, so that only budgets of virtual time move it. */
  stopped?: boolean;
  /** Rejects when the page's process ends. */
  readonly crashed: Promise<never>;
  close(): Promise<void>;
}

/** The window of new pages. */
export const USUAL_VIEWPORT: Viewport = { width: 1024, height: 768, scale: 1 };

/** Changes the size of the window if necessary. Returns whether it changed. */
export async function setViewport(session: Session, viewport: Viewport): Promise<boolean> {
  const { protocol, frames } = session;
  const present = session.viewport;
  if (present && isDeepStrictEqual(metricsOf(present), metricsOf(viewport))) return false;
  session.viewport = viewport;
  await frames.expedite(protocol.send('Emulation.setDeviceMetricsOverride', metricsOf(viewport)));
  return true;
}

/** Selects the part of the page to capture, in CSS pixels. The window and the layout stay the same. */
export async function showArea(
  { protocol, viewport = USUAL_VIEWPORT }: Session,
  area: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
): Promise<void> {
  const { scale } = viewport;
  const metrics = { ...metricsOf(viewport), viewport: { ...area, scale: 1 } };
  await Promise.all([
    protocol.send('Emulation.setDeviceMetricsOverride', metrics),
    protocol.send('Emulation.setVisibleSize', { width: area.width * scale, height: area.height * scale }),
  ]);
}

function metricsOf({ width, height, scale, mobile = false, screen }: Viewport) {
  const own = screen && { screenWidth: screen.width, screenHeight: screen.height };
  return { width, height, deviceScaleFactor: scale, mobile, ...own };
}

/**
 * Runs in each document before its own scripts, and compensates for two effects of a stopped clock. Chromium has no
 * idle time to run idle callbacks in. And a script that loops until some time has passed would never end, so after
 * many readings of the same time, each further one is a little later.
 */
export const PAGE_CLOCK = `(() => {
  const READINGS = 100;
  const STEP = 0.1;
  const passing = (read) => {
    let last, readings, shown;
    return () => {
      const now = read();
      readings = now === last ? readings + 1 : 0;
      shown = now < last ? now : Math.max(shown ?? now, now + STEP * Math.max(0, readings - READINGS));
      last = now;
      return shown;
    };
  };

  const { now } = performance;
  const elapsed = passing(() => now.call(performance));
  Performance.prototype.now = { now() { return this === performance ? elapsed() : now.call(this) } }.now;

  const Native = Date;
  const time = passing(Native.now);
  Native.now = { now: () => Math.floor(time()) }.now;
  Date = Native.prototype.constructor = new Proxy(Native, {
    construct: (target, values, called) => Reflect.construct(target, values.length > 0 ? values : [time()], called),
    apply: () => new Native(time()).toString(),
  });

  const { setTimeout, clearTimeout } = window;
  const FRAME = 1000 / 60;
  window.requestIdleCallback = { requestIdleCallback(callback) {
    let left = 50;
    return setTimeout(() => callback({ didTimeout: false, timeRemaining: () => Math.max(0, left--) }), FRAME);
  } }.requestIdleCallback;
  window.cancelIdleCallback = { cancelIdleCallback: (handle) => clearTimeout(handle) }.cancelIdleCallback;
})()`;

/** Gives a worker its own frames. A frame of the page would never end if a worker drew on a canvas in it. */
export const WORKER_CLOCK = `
  self.requestAnimationFrame &&= (callback) => setTimeout(() => callback(performance.now()), 1000 / 60);
  self.cancelAnimationFrame &&= (timer) => clearTimeout(timer);`;
