import { evaluate, pageNumber } from './evaluate.ts';
import type { PageOptions } from './page-options.ts';
import { setViewport, type Viewport } from './prepare.ts';
import type { Session } from './session.ts';

/** Milliseconds of the page's own clock that its scripts get after load. */
const SCRIPT_TIME = 500;
/** Milliseconds that requests under way are waited for. */
const QUIET_TIME = 5000;
/** CSS pixels; beyond it a page's lazy images stay as they are. */
const TALLEST = 16_384;

/** Native lazy images are asked for at once; answers how tall the page is, and whether scripts could load more. */
const WAKE = `() => {
  for (const element of document.querySelectorAll('[loading=lazy]')) element.loading = 'eager';
  return [document.documentElement?.scrollHeight ?? 0, document.scripts.length];
}`;

const FONTS = '() => document.fonts.ready.then(() => true)';

/**
 * Waits until a loaded page looks as it is meant to: lazy images, fonts, timers, quiet network.
 * Nothing sleeps: the page's clock is run ahead, and stands still while requests are under way.
 */
export async function settle(
  session: Session,
  { options, viewport }: { options: PageOptions; viewport: Viewport },
): Promise<void> {
  const [height, scripts] = list(await evaluate(session, WAKE));
  const tall = pageNumber(height, { min: 1, max: TALLEST });
  const stretch = options.javascript && Number(scripts) > 0 && tall > viewport.height;
  // What scripts load as it comes into view is all in view now.
  if (stretch) await setViewport(session, { ...viewport, height: tall });
  await runAhead(session);
  if (stretch) await setViewport(session, viewport);
  await evaluate(session, FONTS);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Runs the page's clock ahead; the time of day outside hardly passes. */
async function runAhead({ protocol }: Session): Promise<void> {
  const expired = Promise.withResolvers<void>();
  const timer = setTimeout(expired.resolve, QUIET_TIME);
  protocol.once('Emulation.virtualTimeBudgetExpired', () => expired.resolve());
  await protocol.send('Emulation.setVirtualTimePolicy', {
    policy: 'pauseIfNetworkFetchesPending',
    budget: SCRIPT_TIME,
    // A page that keeps itself busy gets this many tasks before its clock goes on.
    maxVirtualTimeTaskStarvationCount: 1000,
  });
  await expired.promise;
  clearTimeout(timer);
}
