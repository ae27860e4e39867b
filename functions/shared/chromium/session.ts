import type { Browser, CDPSession, Page } from 'puppeteer-core';
import { type Relay, startRelay } from './relay.ts';

/** A blank page in a context of its own, ready to be led to one address. */
export interface Session {
  readonly page: Page;
  readonly protocol: CDPSession;
  readonly relay: Relay;
  /** Of the page itself, not of the frames in it. */
  readonly frameId: string;
  /** Rejects when the page's process ends. */
  readonly crashed: Promise<never>;
  close(): Promise<void>;
}

/** Opens a page that shares nothing with any other: cookies, storage, cache and way to the network are its own. */
export async function openSession(browser: Browser): Promise<Session> {
  const relay = await startRelay();
  const context = await browser.createBrowserContext({
    proxyServer: `http://127.0.0.1:${relay.port}`,
    // As in the flags: without it loopback and link-local addresses go past the proxy.
    proxyBypassList: ['<-loopback>'],
    downloadBehavior: { policy: 'deny' },
  });
  const page = await context.newPage();
  const protocol = await page.createCDPSession();
  let closing = false;
  const crashed = new Promise<never>((_, reject) => {
    page.once('error', reject);
    page.once('close', () => closing || reject(new Error('the page closed itself')));
  });
  crashed.catch(() => {});
  // Nobody is there to answer; an unanswered dialog stops the page.
  page.on('dialog', (dialog) => dialog.dismiss().catch(() => {}));
  await Promise.all([protocol.send('Network.enable'), protocol.send('Page.enable')]);
  const { frameTree } = await protocol.send('Page.getFrameTree');
  return {
    page,
    protocol,
    relay,
    frameId: frameTree.frame.id,
    crashed,
    close: async () => {
      closing = true;
      relay.close();
      await context.close();
    },
  };
}
