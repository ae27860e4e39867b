import { ELEMENTS_IN } from '../../engines/chromium/page/content/elements.ts';
import { evaluate } from '../../engines/chromium/page/evaluate.ts';
import type { Session, Viewport } from '../../engines/chromium/page/session.ts';
import { addStyleSheet } from '../../engines/chromium/page/style-sheet.ts';
import { setViewport } from '../../engines/chromium/page/viewport.ts';

/** CSS pixels by which the window grows to find lengths that depend on its height. */
const PROBE = 100;

const REMEMBER = `() => {${ELEMENTS_IN}
  const boxOf = (element) => {
    const { top, height } = element.getBoundingClientRect();
    return [height, top - (parentOf(element)?.getBoundingClientRect().top ?? 0)].join();
  };
  const stylesOf = (element) => new Map([...element.computedStyleMap()].map(([name, values]) => [name, values.join()]));
  const elements = [...elementsIn(document)];
  const boxes = elements.map((element) => [element, boxOf(element)]);
  const vertical = [...getComputedStyle(document.documentElement)].filter((name) => /height|size|top|bottom|trans/.test(name));
  const generatedStyles = (element, pseudo) => {
    const style = getComputedStyle(element, pseudo);
    return vertical.map((name) => [name, style.getPropertyValue(name)]);
  };
  const generated = elements.flatMap((element) => ['::before', '::after']
    .filter((pseudo) => !/^(none|normal)$/.test(getComputedStyle(element, pseudo).content))
    .map((pseudo) => ({ element, pseudo, styles: generatedStyles(element, pseudo) })));
  globalThis.dependent = { boxes, boxOf, stylesOf, generated, generatedStyles, found: [] };
}`;

const FIND = `() => {
  const { boxes, boxOf, stylesOf, generated, generatedStyles, found } = dependent;
  for (const [element, box] of boxes) if (boxOf(element) !== box) found.push([element, stylesOf(element)]);
  for (const each of generated) {
    const others = new Map(generatedStyles(each.element, each.pseudo));
    each.changed = each.styles.filter(([name, value]) => others.get(name) !== value);
  }
}`;

/** Returns rules for generated content, which has no `style` attribute. */
const PIN = `() => {
  const { stylesOf, found, generated } = dependent;
  const changes = found.flatMap(([element, other]) =>
    [...stylesOf(element)].filter(([name, value]) => other.get(name) !== value).map((style) => [element, ...style]));
  for (const [element, name, value] of changes) element.style.setProperty(name, value, 'important');
  const rules = generated.filter(({ changed }) => changed.length > 0).map(({ element, pseudo, changed }, index) => {
    const name = 'data-pinned-' + pseudo.slice(2);
    element.setAttribute(name, index);
    const declarations = changed.map(([property, value]) => property + ':' + value + '!important');
    return '[' + name + '="' + index + '"]' + pseudo + '{' + declarations.join(';') + '}';
  });
  return rules.join('');
}`;

/**
 * Fixes lengths that depend on the height of the window, such as `100vh`. On paper as tall as the content they would
 * grow with it.
 */
export async function pinToWindow(session: Session, window: Viewport): Promise<void> {
  await evaluate(session, REMEMBER);
  await setViewport(session, { ...window, height: window.height + PROBE });
  await evaluate(session, FIND);
  await setViewport(session, window);
  await addStyleSheet(session, String(await evaluate(session, PIN)));
}
