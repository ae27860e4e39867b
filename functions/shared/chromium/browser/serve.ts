import { within } from '../../timeout.ts';
import { fontEnvironment } from '../../worker/fonts.ts';
import { exitUnusable, serveRequests } from '../../worker/serve.ts';
import { restless } from '../page/evaluate.ts';
import { openSession, type Session } from '../page/session.ts';
import type { PageOptions } from '../page-options.ts';
import type { PageFailure, PageReply, PageRequest } from '../request.ts';
import { launchBrowser } from './browser.ts';
import { browserMemory, findHelperProcesses, isAlive } from './processes.ts';

/** Makes a page's result; `tell` names an address that could not be loaded. */
export type Work<Options extends PageOptions> = (
  session: Session,
  request: PageRequest<Options>,
  tell: (failure: PageFailure) => void,
) => Promise<PageReply>;

/** Resident MiB of the browser's processes together, above which this process ends after a request. */
const MEMORY = 1500;
/** Requests between two looks at it, each of which reads through all processes of the machine. */
const WEIGHING = 10;
/** Pages that are opened while nothing is under way: a second request right after the first needs to open none either. */
const AHEAD = 2;
/** Milliseconds for the first page, and for another one. */
const START_TIME = 15_000;
const OPEN_TIME = 5000;
const CLOSE_TIME = 2000;
/** Milliseconds after which a result is most likely stored, and after which a page that has its result is closed in any case. */
const STORE_TIME = 25;
const LEAVE_TIME = 250;

/**
 * The browser process: one browser, and a fresh page for each request, opened ahead of need.
 * Ends with exit code 1 when the browser, its network process or the process of a page that is open or waits ends: a crash
 * to whoever started it, unless it is found before a request is begun.
 */
export async function servePages<Options extends PageOptions>(work: Work<Options>): Promise<void> {
  const layers = process.argv[2]!;
  const home = process.cwd();
  const environment = fontEnvironment(layers, home);
  const sandbox = process.argv[3] === 'required' ? 'required' : 'best-effort';
  const { connection, pid, ended } = await launchBrowser({ layers, home, environment, sandbox });
  const { ProtocolError } = await import('puppeteer-core');
  ended.catch(() => process.exit(1));
  const ahead: Promise<Session>[] = [];
  const done: Session[] = [];
  const finished = new WeakSet<Session>();
  keepAhead(1);
  // A browser that loses a process while it starts opens none, and never says so.
  if (!(await within(START_TIME, ahead[0]!))) process.exit(1);
  const servants = findHelperProcesses(pid);
  let requests = 0;
  let busy = false;
  let heavy = false;

  await serveRequests<PageRequest<Options>>(async (request, emit) => {
    if (heavy || isCutOff()) exitUnusable();
    busy = true;
    // A page whose process ended while it was being opened never says so.
    const session = (await within(OPEN_TIME, ahead.shift()!)) ?? exitUnusable();
    // Not before the document has come: the browser does in one thread what leads there and what opens pages.
    session.protocol.on('Page.frameNavigated', () => keepAhead(1));
    try {
      return await work(session, request, emit);
    } catch (error) {
      throw error instanceof ProtocolError ? restless(error) : error;
    } finally {
      session.frames.stop();
      if (isCutOff()) process.exit(1);
      // The page lives on for a moment, but reaches nobody.
      session.relay.close();
      keepAhead(1);
      done.push(session);
      finished.add(session);
      busy = false;
      // Not before the result is stored, which closing and opening pages would slow down.
      setTimeout(tidy, STORE_TIME);
      setTimeout(endDone, LEAVE_TIME);
    }
  });

  /** Opens pages until so many are there. */
  function keepAhead(pages: number): void {
    while (ahead.length < pages) ahead.push(open());
  }

  /** Opens a page, then closes what the last ones have left; a page that crashes takes this process with it, even one that waits. */
  async function open(): Promise<Session> {
    const session = await openSession(connection).catch(() => process.exit(1));
    // One that has its result may end as it likes.
    session.crashed.catch(() => finished.has(session) || process.exit(1));
    endDone();
    return session;
  }

  /** While nothing is under way. */
  function tidy(): void {
    if (busy) return;
    if (heavy) process.exit(0);
    endDone();
    keepAhead(AHEAD);
  }

  /** The browser may start another servant, but its pages do not reach the network any more, or none can be opened. */
  function isCutOff(): boolean {
    return !servants.every(isAlive);
  }

  function endDone(): void {
    for (const session of done.splice(0)) end(session);
  }

  /** Closes a page; one that does not close takes its browser with it, as do, between two requests, those that leave too much behind. */
  async function end(session: Session): Promise<void> {
    const closing = session.close().then(
      () => true,
      () => false,
    );
    if (!(await within(CLOSE_TIME, closing))) process.exit(1);
    requests += 1;
    // Whoever is being served meanwhile gets the result first.
    if (requests % WEIGHING === 0 && browserMemory(pid) > MEMORY) heavy = true;
  }
}
