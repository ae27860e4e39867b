import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import { threadTimes } from '../../worker/linux/proc.ts';
import { startRelay } from '../proxy/relay.ts';
import { openWorld } from './evaluate.ts';
import { framesOf } from './frames.ts';
import { AUTO_ATTACH, PAGE_CLOCK, type Session, setViewport, USUAL_VIEWPORT } from './session.ts';

/**
 * How long an apparently stuck browser is observed, and the CPU time below which it counts as idle, both in
 * milliseconds.
 */
const WATCH_TIME = 1000;
const IDLE_LOAD = 50;

/** Exits if a frame is stuck while the browser is idle. The pool treats that as a crash and retries. */
async function exitIfIdle(
  processes: () => Promise<readonly number[]>,
  isPending: () => boolean,
): Promise<void> {
  const watched = await processes();
  const before = threadTimes(watched);
  await sleep(WATCH_TIME);
  const after = threadTimes(watched);
  if (!isPending() || (before && after && after.running - before.running > IDLE_LOAD)) return;
  console.error('A frame is stuck.');
  process.exit(1);
}

/**
 * Opens a page with its own cookies, storage, cache and network, none of which it shares with other pages. Rejects if
 * the page's process ends before it is open.
 */
export async function openSession(browser: Connection): Promise<Session> {
  const relay = await startRelay();
  const { browserContextId } = await browser.send('Target.createBrowserContext', {
    proxyServer: `http://127.0.0.1:${relay.port}`,
    // As in the flags: without it, loopback and link-local addresses bypass the proxy.
    proxyBypassList: '<-loopback>',
  });
  const crashed = Promise.withResolvers<never>();
  crashed.promise.catch(() => {});
  // The page's own session does not report a process that ends before the session exists.
  const onCrash = async ({ targetId }: { readonly targetId: string }) => {
    if (targetId === (await created).targetId) crashed.reject(new Error('The page crashed.'));
  };
  browser.on('Target.targetCrashed', onCrash);
  const created = browser.send('Target.createTarget', {
    url: 'about:blank',
    browserContextId,
    enableBeginFrameControl: true,
  });
  const [{ targetId }] = await Promise.all([
    created,
    browser.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
  ]);
  const { targetInfo } = await browser.send('Target.getTargetInfo', { targetId });
  const protocol = await browser.createSession(targetInfo);
  // The page was closed.
  protocol.on('Inspector.detached', () => crashed.reject(new Error('The page was closed.')));
  // An unanswered dialog would block the page.
  protocol.on('Page.javascriptDialogOpening', () => {
    protocol.send('Page.handleJavaScriptDialog', { accept: false }).catch(() => {});
  });
  const prepared = Promise.all([
    protocol.send('Page.getFrameTree'),
    protocol.send('Animation.enable'),
    protocol.send('Target.setAutoAttach', AUTO_ATTACH),
    protocol.send('Page.enable'),
    protocol.send('Network.enable'),
    protocol.send('Page.addScriptToEvaluateOnNewDocument', { source: PAGE_CLOCK }),
    // CPU time, because scripts take no time on a page's stopped clock.
    protocol.send('Performance.enable', { timeDomain: 'threadTicks' }),
    // By default, pages are printed as they look on a screen.
    protocol.send('Emulation.setEmulatedMedia', { media: 'screen' }),
  ]);
  const [{ frameTree }] = await Promise.race([prepared, crashed.promise]);
  const frameId = frameTree.frame.id;
  const processInfo = async () => (await browser.send('SystemInfo.getProcessInfo')).processInfo;
  const processes = async () => (await processInfo()).map(({ id }) => id);
  const frames = framesOf(protocol, (isPending) => exitIfIdle(processes, isPending).catch(() => {}));
  const session: Session = {
    protocol,
    relay,
    frames,
    viewport: undefined,
    hasAnimations: false,
    hasWorkers: async () => {
      const filter = [{ type: 'worker' }, { type: 'shared_worker' }];
      const { targetInfos } = await browser.send('Target.getTargets', { filter });
      return targetInfos.some((target) => target.browserContextId === browserContextId);
    },
    processes,
    processorTime: async () => (await processInfo()).reduce((sum, { cpuTime }) => sum + 1000 * cpuTime, 0),
    frameId,
    world: openWorld(protocol, frameId),
    crashed: crashed.promise,
    close: async () => {
      browser.off('Target.targetCrashed', onCrash);
      relay.close();
      await browser.send('Target.disposeBrowserContext', { browserContextId });
      relay.release();
    },
  };
  protocol.on('Animation.animationCreated', () => {
    session.hasAnimations = true;
  });
  protocol.on('Page.frameNavigated', ({ frame }) => {
    if (frame.id === frameId) session.world = openWorld(protocol, frameId);
  });
  // Not awaited: the page responds after its first frame.
  setViewport(session, USUAL_VIEWPORT).catch(() => {});
  return session;
}
