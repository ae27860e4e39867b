import type { CDPSession, Connection } from 'puppeteer-core';
import { type Relay, startRelay } from '../proxy/relay.ts';
import { type Frames, framesOf } from './frames.ts';
import { setViewport, USUAL_VIEWPORT, type Viewport } from './viewport.ts';
import { trackPending } from './wait/pending.ts';

/** A blank page in a context of its own, ready to be led to one address. */
export interface Session {
  readonly protocol: CDPSession;
  readonly relay: Relay;
  readonly frames: Frames;
  viewport: Viewport | undefined;
  /** Of the page itself, not of the frames in it. */
  readonly frameId: string;
  /** Where `evaluate` runs in the present document; `undefined` until it first does. */
  world: number | undefined;
  /** Rejects when the page's process ends. */
  readonly crashed: Promise<never>;
  close(): Promise<void>;
}

/** Opens a page that shares nothing with any other: cookies, storage, cache and way to the network are its own. */
export async function openSession(browser: Connection): Promise<Session> {
  const relay = await startRelay();
  const { browserContextId } = await browser.send('Target.createBrowserContext', {
    proxyServer: `http://127.0.0.1:${relay.port}`,
    // As in the flags: without it loopback and link-local addresses go past the proxy.
    proxyBypassList: '<-loopback>',
  });
  const [{ targetId }] = await Promise.all([
    browser.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
      enableBeginFrameControl: true,
    }),
    browser.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
  ]);
  const { targetInfo } = await browser.send('Target.getTargetInfo', { targetId });
  const protocol = await browser.createSession(targetInfo);
  const crashed = Promise.withResolvers<never>();
  crashed.promise.catch(() => {});
  protocol.on('Inspector.targetCrashed', () => crashed.reject(new Error('the page crashed')));
  // Once the page is closed for its own sake.
  protocol.on('Inspector.detached', () => crashed.reject(new Error('the page closed itself')));
  // Nobody is there to answer; an unanswered dialog stops the page.
  protocol.on('Page.javascriptDialogOpening', () => {
    protocol.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => {});
  });
  const [{ frameTree }] = await Promise.all([
    protocol.send('Page.getFrameTree'),
    protocol.send('Page.enable'),
    protocol.send('Network.enable'),
    trackPending(protocol),
    // A page is printed as it looks on a screen, unless it is asked for otherwise.
    protocol.send('Emulation.setEmulatedMedia', { media: 'screen' }),
  ]);
  const frameId = frameTree.frame.id;
  const frames = framesOf(protocol);
  const session: Session = {
    protocol,
    relay,
    frames,
    viewport: undefined,
    frameId,
    world: undefined,
    crashed: crashed.promise,
    close: async () => {
      relay.close();
      await browser.send('Target.disposeBrowserContext', { browserContextId });
    },
  };
  protocol.on('Page.frameNavigated', ({ frame }) => {
    if (frame.id === frameId) session.world = undefined;
  });
  // A page answers this after its first frame, which nobody has to wait for.
  setViewport(session, USUAL_VIEWPORT).catch(() => {});
  return session;
}
