import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProtocolError } from 'puppeteer-core/internal/common/Errors.js';
import { ConversionError } from '../../../shared/errors.ts';
import { untilAborted, within } from '../../../shared/time.ts';
import { fontEnvironment } from '../../worker/sandbox.ts';
import { endWithParent, exitUnstarted, exitUnusable, serveRequests } from '../../worker/serve.ts';
import { pageChangedError } from '../page/evaluate.ts';
import { openSession } from '../page/open-session.ts';
import type { Session } from '../page/session.ts';
import type { PageOptions } from '../page-options.ts';
import { reserveRelays } from '../proxy/relay.ts';
import type { PageFailure, PageReply, PageRequest, TextOption } from '../request.ts';
import { launchBrowser } from './browser.ts';
import { browserMemory, findHelperProcesses, isAlive, OwnSandboxError } from './processes.ts';

/**
 * Produces the result for one page in a folder. `tell` reports a URL that could not be loaded. After a cancellation,
 * this may still run beside the next request, whose folder is the working directory by then.
 */
export type PageWork<Options extends PageOptions> = (
  session: Session,
  request: PageRequest<Options>,
  surroundings: { readonly folder: string; readonly tell: (failure: PageFailure) => void },
) => Promise<PageReply>;

/** Resident MiB of all the browser's processes above which this process exits after a request. */
const MEMORY = 1500;
/** Requests between two memory checks, each of which reads all of /proc. */
const CHECK_INTERVAL = 10;
/** Number of pages that are kept open while idle, so that two consecutive requests need not open one. */
const IDLE_PAGES = 2;
/** Timeouts for a page that a request waits for, for any other one, and for closing one, in milliseconds. */
const OPEN_TIMEOUT = 5000;
const IDLE_OPEN_TIMEOUT = 10_000;
const CLOSE_TIME = 2000;
/**
 * Delay before housekeeping, so that the result is usually stored first, and the maximum delay before a finished page
 * is closed, in milliseconds.
 */
const STORE_TIME = 25;
const LEAVE_TIME = 250;
/** How long to wait for the report that a renderer exited, in milliseconds. */
const CRASH_TIME = 50;

/**
 * Runs one browser and serves each request with a fresh page that was opened in advance. Exits with code 1 if
 * the browser, its network process or a renderer ends. A request that had started then counts as crashed.
 */
export async function servePages<Options extends PageOptions>(
  work: PageWork<Options>,
  { prints }: { readonly prints: boolean },
): Promise<void> {
  endWithParent();
  const layers = process.argv[2]!;
  // The files of requests are next to it, where the browser cannot reach them.
  const home = join(process.cwd(), 'browser');
  mkdirSync(home, { mode: 0o700 });
  const environment = fontEnvironment(layers);
  const sandbox = process.argv[3] === 'required' ? 'required' : 'best-effort';
  const ports = await reserveRelays();
  let early: readonly number[] = [];
  // A browser that loses a process during startup never opens a page and does not report it. The parent ends a start
  // that hangs.
  const { browser, page } = await launchBrowser(
    { layers, home, environment, sandbox, ports, prints },
    (launched) => {
      // Some helper processes exist only once a page is open. If one exits before that, the page has no network.
      early = findHelperProcesses(launched.pid);
      return openSession(launched.connection);
    },
  ).catch((error: unknown) => {
    if (error instanceof OwnSandboxError) return exitUnstarted(error.message);
    throw error;
  });
  const { connection, pid, ended, unsandboxed } = browser;
  ended.catch(() => process.exit(1));
  const done: Session[] = [];
  const finished = new WeakSet<Session>();
  const ahead: Promise<Session>[] = [Promise.resolve(watch(page))];
  const helpers = [...early, ...findHelperProcesses(pid)];
  let requests = 0;
  let busy = false;
  let isTooLarge = false;

  await serveRequests<{ page: PageRequest<Options> }>(
    {
      page: async (given, _answers, signal) => {
        const request = { ...given, texts: { ...given.texts, ...readTexts(given) } };
        if (isTooLarge || isCutOff()) exitUnusable();
        busy = true;
        let failed: string | undefined;
        const session = (await within(OPEN_TIMEOUT, ahead.shift()!)) ?? exitUnusable();
        // Waits until the document has arrived, because the browser opens pages in the thread that also navigates.
        session.protocol.on('Page.frameNavigated', () => keepAhead(1));
        try {
          const tell = (failure: PageFailure) => {
            failed = failure.failed;
          };
          return await untilAborted(signal, work(session, request, { folder: process.cwd(), tell }));
        } catch (error) {
          if (signal.aborted) throw error;
          const isUnreachable = error instanceof ConversionError && error.code === 'SOURCE_UNREACHABLE';
          // Failures are reported before the exit of the renderer or browser that caused them, which ends this
          // process.
          if (isUnreachable || error instanceof ProtocolError) await sleep(CRASH_TIME);
          const thrown = error instanceof ProtocolError ? pageChangedError(error) : error;
          if (failed === undefined || !(thrown instanceof ConversionError)) throw thrown;
          const { code, message } = thrown;
          throw new ConversionError(code, message, { cause: thrown, details: { url: failed } });
        } finally {
          session.frames.stop();
          if (isCutOff()) process.exit(1);
          // Still open, but its network is cut.
          session.relay.close();
          keepAhead(1);
          finished.add(session);
          // Ends whatever cancelled work is waiting for. No other page may run before that.
          if (signal.aborted) await end(session);
          else done.push(session);
          busy = false;
          // Opening and closing pages now would delay storing the result.
          setTimeout(tidy, STORE_TIME);
          setTimeout(endDone, LEAVE_TIME);
        }
      },
    },
    { unsandboxed },
  );

  /** Keeps `pages` pages pre-opened. */
  function keepAhead(pages: number): void {
    while (ahead.length < pages) ahead.push(open());
  }

  /** Opens a page, then closes finished ones. This process exits if a page crashes, even an unused one. */
  async function open(): Promise<Session> {
    const opening = openSession(connection).catch(() => process.exit(1));
    // A running request would count as crashed. The next one notices it, too.
    const session = (await within(IDLE_OPEN_TIMEOUT, opening)) ?? (busy ? await opening : process.exit(1));
    endDone();
    return watch(session);
  }

  /** Exits if a page crashes, unless its result was sent before. */
  function watch(session: Session): Session {
    session.crashed.catch(() => finished.has(session) || process.exit(1));
    return session;
  }

  /** Cleans up between requests. */
  function tidy(): void {
    if (busy) return;
    if (isTooLarge) process.exit(0);
    endDone();
    keepAhead(IDLE_PAGES);
  }

  /**
   * Whether a helper process has exited. Chromium restarts it, but existing pages lose the network, or no page can be
   * opened.
   */
  function isCutOff(): boolean {
    return !helpers.every(isAlive);
  }

  function endDone(): void {
    for (const session of done.splice(0)) end(session);
  }

  /**
   * Closes a page. This process exits if the page does not close, or if memory has grown too much and no request is
   * running.
   */
  async function end(session: Session): Promise<void> {
    const closing = session.close().then(
      () => true,
      () => false,
    );
    if (!(await within(CLOSE_TIME, closing))) process.exit(1);
    requests += 1;
    // A request that is already running is completed first.
    if (requests % CHECK_INTERVAL === 0 && browserMemory(pid) > MEMORY) isTooLarge = true;
  }
}

/** Reads the files of texts, each of which follows what is known of it. */
function readTexts({ texts, textFiles }: PageRequest): PageRequest['texts'] {
  const names = Object.entries(textFiles) as [TextOption, string][];
  const read = names.map(([option, name]) => [option, (texts[option] ?? '') + readFileSync(name, 'utf8')]);
  return Object.fromEntries(read);
}
