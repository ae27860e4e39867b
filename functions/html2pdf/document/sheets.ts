import { ELEMENTS_IN } from '../../engines/chromium/page/content/elements.ts';
import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session } from '../../engines/chromium/page/session.ts';
import { type Layout, PIXEL } from '../paper/layout.ts';

/** Finds elements as large as the printed area, removes what is around them, and returns whether there are any. */
const FIND = `(width, height) => {${ELEMENTS_IN}
  const { body, documentElement: root } = document;
  if (!body) return false;
  const isSheet = (element) => {
    const box = element.getBoundingClientRect();
    return Math.abs(box.width - width) < 1.5 && Math.abs(box.height - height) < 1.5;
  };
  const sheets = [...elementsIn(body)].filter((element) => element.style && isSheet(element));
  const outer = sheets.filter((element) => !sheets.some((other) => other !== element && other.contains(element)));
  if (outer.length === 0) return false;
  for (const element of [root, body]) {
    for (const name of ['margin', 'padding', 'border-width']) element.style.setProperty(name, '0', 'important');
  }
  for (const [index, sheet] of outer.entries()) {
    if (index > 0) sheet.style.setProperty('break-before', 'page', 'important');
    sheet.style.setProperty('break-inside', 'avoid', 'important');
  }
  return true;
}`;

/**
 * Prepares a page that consists of sheets of the size that its `@page` rule names, as Paged.js makes them: each sheet gets a page, and
 * the styles for print apply, which the sheets were made for.
 */
export async function printSheets(
  session: Session,
  layout: Layout,
  media: readonly MediaFeature[],
): Promise<void> {
  const { width, height, left, right, top, bottom } = layout;
  if (height === 'auto') return;
  const area = [(width - left - right) / PIXEL, (height - top - bottom) / PIXEL];
  if ((await evaluate(session, FIND, ...area)) !== true) return;
  await session.protocol.send('Emulation.setEmulatedMedia', { media: 'print', features: [...media] });
}

interface MediaFeature {
  readonly name: string;
  readonly value: string;
}
