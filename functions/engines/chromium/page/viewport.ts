import { isDeepStrictEqual } from 'node:util';
import type { Session, Viewport } from './session.ts';

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
