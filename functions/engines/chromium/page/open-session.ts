import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { startRelay } from '../proxy/relay.ts';
import { framesOf } from './frames.ts';
import type { Session } from './session.ts';
import { setViewport, USUAL_VIEWPORT } from './viewport.ts';
import { trackPending } from './wait/pending.ts';

/** Opens a page with its own cookies, storage, cache and network, none of which it shares with other pages. */
export async function openSession(browser: Connection): Promise<Session> {
  const relay = await startRelay();
  const { browserContextId } = await browser.send('Target.createBrowserContext', {
    proxyServer: `http://127.0.0.1:${relay.port}`,
    // As in the flags: without it, loopback and link-local addresses bypass the proxy.
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
  protocol.on('Inspector.targetCrashed', () => crashed.reject(new Error('The page crashed.')));
  // The page was closed.
  protocol.on('Inspector.detached', () => crashed.reject(new Error('The page was closed.')));
  // An unanswered dialog would block the page.
  protocol.on('Page.javascriptDialogOpening', () => {
    protocol.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => {});
  });
  const [{ frameTree }] = await Promise.all([
    protocol.send('Page.getFrameTree'),
    protocol.send('Page.enable'),
    protocol.send('Network.enable'),
    trackPending(protocol),
    // By default, pages are printed as they look on a screen.
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
      relay.release();
    },
  };
  protocol.on('Page.frameNavigated', ({ frame }) => {
    if (frame.id === frameId) session.world = undefined;
  });
  // Not awaited: the page responds after its first frame.
  setViewport(session, USUAL_VIEWPORT).catch(() => {});
  return session;
}
