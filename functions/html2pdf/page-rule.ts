import { evaluate } from '../engines/chromium/page/evaluate.ts';
import type { Session } from '../engines/chromium/page/session.ts';
import { type Layout, PIXEL, type Sides } from './paper.ts';

/**
 * Reads the `@page` rules for all pages and, if there is only a single page, also those for the first. Returns width,
 * height, top, right, bottom and left in CSS pixels, with -1 for values that are not set. Returns nothing if there is
 * no such rule. Style sheets of other origins cannot be read.
 */
const READ = `(isSingle) => {
  const millimeters = { a5: [148, 210], a4: [210, 297], a3: [297, 420], b5: [176, 250], b4: [250, 353],
    'jis-b5': [182, 257], 'jis-b4': [257, 364], letter: [215.9, 279.4], legal: [215.9, 355.6], ledger: [279.4, 431.8] };
  const pixels = (text) => {
    try {
      return CSSNumericValue.parse(text).to('px').value;
    } catch {
      return -1;
    }
  };
  const box = [-1, -1, -1, -1, -1, -1];
  let found = false;
  const readSize = (text) => {
    const words = text.toLowerCase().split(/\\s+/).filter(Boolean);
    const turn = words.find((word) => word === 'landscape' || word === 'portrait');
    const named = words.map((word) => millimeters[word]).find(Boolean);
    const lengths = words.map(pixels).filter((length) => length > 0);
    let size = named?.map((side) => side * 96 / 25.4) ?? (lengths.length ? [lengths[0], lengths[1] ?? lengths[0]] : undefined);
    if (!size && turn) size = [millimeters.a4[0] * 96 / 25.4, millimeters.a4[1] * 96 / 25.4];
    if (!size) return;
    if (turn && (turn === 'landscape') !== (size[0] > size[1])) size.reverse();
    box.splice(0, 2, ...size);
  };
  const applies = (rule) => {
    if (rule instanceof CSSSupportsRule) return CSS.supports(rule.conditionText);
    if (rule instanceof CSSMediaRule) return rule.media.mediaText !== 'screen' && matchMedia(rule.conditionText).matches;
    return true;
  };
  const visitSheet = (sheet, media) => {
    try {
      if (!sheet.disabled && matchMedia(media.mediaText).matches) visit(sheet.cssRules);
    } catch {
      // The style sheet is from another origin.
    }
  };
  const visit = (rules) => {
    for (const rule of rules) {
      if (rule instanceof CSSImportRule && rule.styleSheet) {
        visitSheet(rule.styleSheet, rule.media);
      } else if (rule instanceof CSSPageRule) {
        if (rule.selectorText !== '' && !(isSingle && rule.selectorText === ':first')) continue;
        found = true;
        readSize(rule.style.getPropertyValue('size'));
        ['top', 'right', 'bottom', 'left'].forEach((side, index) => {
          const margin = pixels(rule.style.getPropertyValue('margin-' + side));
          if (margin >= 0) box[2 + index] = margin;
        });
      } else if (rule instanceof CSSGroupingRule && applies(rule)) {
        visit(rule.cssRules);
      }
    }
  };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) visitSheet(sheet, sheet.media);
  return found ? box : [];
}`;

/** Minimum length in millimeters of a paper side, and of the space between margins. Smaller values are ignored. */
const MIN_LENGTH = 5;

/** Returns the layout with the page's own `@page` rules applied. */
export async function applyPageRule(session: Session, layout: Layout): Promise<Layout> {
  const read = await evaluate(session, READ, layout.height === 'auto');
  if (!Array.isArray(read) || read.length !== 6) return layout;
  const [width, height, top, right, bottom, left] = read.map((side) => Number(side) * PIXEL);
  const own: Partial<Record<keyof Sides, number | undefined>> = { top, right, bottom, left };
  const { least, fixed } = layout;
  /** Whether a margin of the page leaves no space for the header or footer, so that the default applies. */
  const isTooSmall = (name: 'top' | 'bottom') => least[name] > 0 && !((own[name] ?? -1) >= least[name]);
  const side = (name: keyof Sides) => {
    const value = own[name] ?? -1;
    const isKept = (name === 'top' || name === 'bottom') && isTooSmall(name);
    return fixed[name] || isKept || !(value >= 0) ? layout[name] : value;
  };
  const sized = !layout.fixed.size && Number(width) >= MIN_LENGTH && Number(height) >= MIN_LENGTH;
  const ruled: Layout = {
    ...layout,
    ...(sized ? { width: width!, height: height!, isNamed: true } : {}),
    top: side('top'),
    right: side('right'),
    bottom: side('bottom'),
    left: side('left'),
    fixed: { ...fixed, top: fixed.top || isTooSmall('top'), bottom: fixed.bottom || isTooSmall('bottom') },
  };
  const fits =
    ruled.width - ruled.left - ruled.right >= MIN_LENGTH &&
    (ruled.height === 'auto' || ruled.height - ruled.top - ruled.bottom >= MIN_LENGTH);
  return fits ? ruled : layout;
}

/** Returns the CSS rules that make the caller's values override the page's own. */
export function pageRuleOf({ width, height, fixed, ...margins }: Layout & { height: number }): string {
  const size = fixed.size ? [`size: ${width}mm ${height}mm !important`] : [];
  const sides = (['top', 'right', 'bottom', 'left'] as const)
    .filter((side) => fixed[side])
    .map((side) => `margin-${side}: ${margins[side]}mm !important`);
  const rules = [...size, ...sides];
  return rules.length === 0 ? '' : `@page { ${rules.join('; ')} }`;
}
