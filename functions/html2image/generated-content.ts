import { evaluate } from '../engines/chromium/page/evaluate.ts';
import type { Session } from '../engines/chromium/page/session.ts';
import { addStyleSheet } from '../engines/chromium/page/style-sheet.ts';

const FIND = `() => {
  const read = ({ element, pseudo }) => {
    const { top, height } = getComputedStyle(element, pseudo);
    return { top: parseFloat(top), height: parseFloat(height) };
  };
  const exists = (element, pseudo) => pseudo === '::backdrop'
    ? element.matches(':modal, :popover-open')
    : !/^(none|normal)$/.test(getComputedStyle(element, pseudo).content);
  const found = [...document.querySelectorAll('*')].flatMap((element) => ['::before', '::after', '::backdrop']
    .filter((pseudo) => exists(element, pseudo) && getComputedStyle(element, pseudo).position === 'fixed')
    .map((pseudo) => ({ element, pseudo })));
  globalThis.generated = { read, found: found.map((each) => ({ ...each, place: read(each) })) };
  return found.length > 0;
}`;

const COMPARE = `() => {
  for (const each of generated.found) {
    const { top, height } = generated.read(each);
    each.moved = { top: top - each.place.top, height: height - each.place.height };
  }
}`;

/** Returns rules for generated content, which has no `style` attribute. */
const RULES = `(distance, probe) => {
  const grows = (length) => Math.abs(length - probe) < 1;
  const stays = (length) => Math.abs(length) < 1;
  return generated.found.flatMap(({ element, pseudo, place, moved }, index) => {
    const isLowered = grows(moved.top) && stays(moved.height);
    const isStretched = stays(moved.top) && grows(moved.height);
    if (!isLowered && !isStretched) return [];
    const styles = {
      transition: 'none',
      bottom: 'auto',
      'max-height': 'none',
      top: place.top + (isLowered ? distance : 0) + 'px',
      height: place.height + (isStretched ? distance : 0) + 'px',
    };
    const name = 'data-full-page-' + pseudo.slice(2);
    element.setAttribute(name, index);
    const declarations = Object.entries(styles).map(([property, value]) => property + ':' + value + '!important');
    return ['[' + name + '="' + index + '"]' + pseudo + '{' + declarations.join(';') + '}'];
  }).join('');
}`;

/** Records the positions of fixed `::before`, `::after` and `::backdrop`. Returns whether there are any. */
export async function findGenerated(session: Session): Promise<boolean> {
  return (await evaluate(session, FIND)) === true;
}

/** Compares the recorded positions with those in a window of another height. */
export async function compareGenerated(session: Session): Promise<void> {
  await evaluate(session, COMPARE);
}

/**
 * Moves or stretches the pseudo-elements that followed the window's bottom edge by `distance` CSS pixels. `probe` is
 * the height that was added to the window.
 */
export async function extendGenerated(session: Session, distance: number, probe: number): Promise<void> {
  await addStyleSheet(session, String(await evaluate(session, RULES, distance, probe)));
}
