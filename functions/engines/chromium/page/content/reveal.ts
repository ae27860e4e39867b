import { evaluate } from '../evaluate.ts';
import type { Session } from '../session.ts';
import { ELEMENTS_IN } from './elements.ts';

/**
 * Starts loading native lazy images, and renders content that the browser skips while it is out of view
 * (`content-visibility: auto`). Which elements are in view is only known after a frame, so this applies to all of
 * them, including those in open shadow trees. The containment stays, because removing it would change the layout.
 * Returns the number of changed elements.
 */
const REVEAL = `() => {${ELEMENTS_IN}
  const skipped = [];
  let loading = 0;
  for (const element of elementsIn(document)) {
    if (element.matches('img[loading=lazy i], iframe[loading=lazy i]')) {
      element.setAttribute('loading', 'eager');
      loading += 1;
    }
    const { contentVisibility, contain } = getComputedStyle(element);
    if (contentVisibility === 'auto') skipped.push([element, contain]);
  }
  for (const [element, contain] of skipped) {
    const own = contain.split(' ').filter((part) => part !== 'none');
    const all = /strict|content/.test(contain) ? own : new Set([...own, 'layout', 'style', 'paint']);
    element.style.setProperty('contain', [...all].join(' '), 'important');
    element.style.setProperty('content-visibility', 'visible', 'important');
  }
  return skipped.length + loading;
}`;

/** Makes the browser load and render content that is out of view. Returns whether that changed the page. */
export async function revealContent(session: Session): Promise<boolean> {
  return (await evaluate(session, REVEAL)) !== 0;
}
