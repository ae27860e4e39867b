import type { Protocol } from 'puppeteer-core';
import { CONTENT_HEIGHT } from '../engines/chromium/page/content.ts';
import { addStyleSheet, boundedInteger, evaluate } from '../engines/chromium/page/evaluate.ts';
import { type Session, setViewport, type Viewport } from '../engines/chromium/page/session.ts';
import { passTime, readMetrics } from '../engines/chromium/page/wait/virtual-time.ts';

/** Maximum height in CSS pixels. A hostile page may claim any height. */
const MAX_HEIGHT = 100_000_000;
const MAX_WIDTH = 16_384;

/** Returns the width of the content, which is 1 if the page hides its overflow. */
const CONTENT_WIDTH = `() => {
  const root = document.documentElement;
  if (!root) return 1;
  const cut = [root, document.body].some(
    (element) => element && /hidden|clip/.test(getComputedStyle(element).overflowX),
  );
  return cut ? 1 : root.scrollWidth;
}`;

/** CSS pixels by which the window grows to reveal elements that move with its bottom edge. */
const PROBE = 100;
/**
 * How long scripts may react to the new size, in milliseconds on the page's clock. Many wait until it has not changed
 * for a while.
 */
const REACTION_TIME = 500;

/** Returns the top of each element in the window, then the height of each. */
const PLACES = `(...elements) => {
  const boxes = elements.map((element) => element.getBoundingClientRect());
  return [...boxes.map(({ top }) => top), ...boxes.map(({ height }) => height)];
}`;

/** Moves fixed elements down by a distance. Sticky ones return to their position without scrolling. */
const LOWER = `(distance, ...elements) => {
  for (const element of elements) {
    const { position, top } = getComputedStyle(element);
    const styles = position === 'sticky'
      ? { position: 'relative', inset: 'auto' }
      : { transition: 'none', top: parseFloat(top) + distance + 'px', bottom: 'auto' };
    for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important');
  }
}`;

/**
 * Makes fixed elements taller by a distance. Their content keeps its position in the window: a color also covers the
 * border, and only an image needs the padding. Frames keep their window.
 */
const STRETCH = `(distance, ...elements) => {
  for (const element of elements) {
    const { position, top, width, height, boxSizing, paddingBottom, borderBottomWidth, backgroundImage } = getComputedStyle(element);
    if (position !== 'fixed' || element.matches('iframe, object, embed')) continue;
    const isImage = element.matches('img, video, canvas, svg');
    const added = (length) => parseFloat(length) + distance + 'px';
    const below = backgroundImage === 'none'
      ? { 'border-bottom': added(borderBottomWidth) + ' solid transparent' }
      : { 'padding-bottom': added(paddingBottom) };
    const styles = {
      transition: 'none', top, bottom: 'auto', 'max-height': 'none',
      height: isImage || boxSizing === 'border-box' ? added(height) : height,
      ...(isImage ? { width } : below),
    };
    for (const [name, value] of Object.entries(styles)) element.style.setProperty(name, value, 'important');
  }
}`;

/** Returns the width of the page's content in CSS pixels. */
export async function contentWidth(session: Session): Promise<number> {
  return boundedInteger(await evaluate(session, CONTENT_WIDTH), { min: 1, max: MAX_WIDTH });
}

/**
 * Returns the height of the whole page in CSS pixels. Elements that stick to the bottom of the window are moved to
 * the bottom of the page first, and elements that cover the window are stretched to cover the page.
 */
export async function layOutFullPage(session: Session, window: Viewport): Promise<number> {
  const height = boundedInteger(await evaluate(session, CONTENT_HEIGHT, false), { min: 1, max: MAX_HEIGHT });
  if (height <= window.height) return height;
  const elements = await findPositioned(session);
  const places = await readPlaces(session, elements);
  const hasGenerated = await findGenerated(session);
  // The page is not resized unless something may depend on the size.
  if (!hasGenerated && !places.some(({ top, bottom }) => top > 0 || bottom >= window.height)) return height;
  const { script } = await readMetrics(session);
  await setViewport(session, { ...window, height: window.height + PROBE });
  const lower = await readPlaces(session, elements);
  await compareGenerated(session);
  await setViewport(session, window);
  // Until the size has been drawn, Chromium draws a moving page without waiting for the content that the next size
  // adds.
  await session.frames.step(true);
  if ((await readMetrics(session)).script !== script) await passTime(session, REACTION_TIME);
  /** Returns the elements whose edges did, or did not, move with the bottom of the window. */
  const moving = (edges: { readonly top: boolean; readonly bottom: boolean }) =>
    elements.filter((_, index) =>
      (['top', 'bottom'] as const).every((edge) => {
        const distance = lower[index]![edge] - places[index]![edge];
        return Math.abs(distance - (edges[edge] ? PROBE : 0)) < 1;
      }),
    );
  const distance = height - window.height;
  await callWith(session, LOWER, [{ value: distance }, ...moving({ top: true, bottom: true })]);
  await callWith(session, STRETCH, [{ value: distance }, ...moving({ top: false, bottom: true })]);
  await extendGenerated(session, distance, PROBE);
  return height;
}

type Argument = Protocol.Runtime.CallArgument;

/** Finds fixed and sticky elements, including those in shadow trees. */
async function findPositioned({ protocol, world }: Session): Promise<readonly Argument[]> {
  const { root } = await protocol.send('DOM.getDocument', { depth: 0 });
  const { nodeIds } = await protocol.send('DOM.getNodesForSubtreeByStyle', {
    nodeId: root.nodeId,
    computedStyles: ['fixed', 'sticky'].map((value) => ({ name: 'position', value })),
    pierce: true,
  });
  const executionContextId = await world;
  const nodes = nodeIds.map((nodeId) => protocol.send('DOM.resolveNode', { nodeId, executionContextId }));
  return (await Promise.all(nodes)).flatMap(({ object }) =>
    object.objectId ? [{ objectId: object.objectId }] : [],
  );
}

interface Place {
  readonly top: number;
  readonly bottom: number;
}

async function readPlaces(session: Session, elements: readonly Argument[]): Promise<readonly Place[]> {
  const read = await callWith(session, PLACES, elements);
  const numbers = Array.isArray(read) ? read.map(Number) : [];
  return elements.map((_, index) => {
    const top = numbers[index] ?? 0;
    return { top, bottom: top + (numbers[index + elements.length] ?? 0) };
  });
}

async function callWith(
  { protocol, world }: Session,
  functionDeclaration: string,
  values: readonly Argument[],
) {
  const { result } = await protocol.send('Runtime.callFunctionOn', {
    functionDeclaration,
    executionContextId: await world,
    arguments: [...values],
    returnByValue: true,
  });
  return result.value as unknown;
}

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
async function findGenerated(session: Session): Promise<boolean> {
  return (await evaluate(session, FIND)) === true;
}

/** Compares the recorded positions with those in a window of another height. */
async function compareGenerated(session: Session): Promise<void> {
  await evaluate(session, COMPARE);
}

/**
 * Moves or stretches the pseudo-elements that followed the window's bottom edge by `distance` CSS pixels. `probe` is
 * the height that was added to the window.
 */
async function extendGenerated(session: Session, distance: number, probe: number): Promise<void> {
  await addStyleSheet(session, String(await evaluate(session, RULES, distance, probe)));
}
