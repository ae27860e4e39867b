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
  /** Script context of `evaluate` in the current document, `undefined` until it is first used. */
  world: number | undefined;
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
