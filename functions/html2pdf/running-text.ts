import type { Html2pdfOptions } from './tool.ts';

/** Header or footer of every page. */
export interface RunningText {
  readonly texts: readonly [left: string, centre: string, right: string];
  readonly line: boolean;
  readonly fontName: string;
  readonly fontSize: number;
  readonly spacing: number;
}

/** What a template may say beside the page's own numbers. */
export interface Facts {
  readonly url: string;
  readonly now: Date;
}

export function headerOf(options: Html2pdfOptions): RunningText | undefined {
  const { headerLeft, headerCenter, headerRight, headerLine, headerFontName, headerFontSize, headerSpacing } =
    options;
  const texts = [headerLeft ?? '', headerCenter ?? '', headerRight ?? ''] as const;
  if (!headerLine && texts.every((text) => text === '')) return undefined;
  return {
    texts,
    line: headerLine,
    fontName: headerFontName,
    fontSize: headerFontSize,
    spacing: headerSpacing,
  };
}

export function footerOf(options: Html2pdfOptions): RunningText | undefined {
  const { footerLeft, footerCenter, footerRight, footerLine, footerFontName, footerFontSize, footerSpacing } =
    options;
  const texts = [footerLeft ?? '', footerCenter ?? '', footerRight ?? ''] as const;
  if (!footerLine && texts.every((text) => text === '')) return undefined;
  return {
    texts,
    line: footerLine,
    fontName: footerFontName,
    fontSize: footerFontSize,
    spacing: footerSpacing,
  };
}

/** Where templates lie: millimetres of the paper, and how far in the content begins. */
export interface Place {
  readonly height: number;
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** Writes the template that Chromium prints into a margin; an empty one where there is nothing to say. */
export function template(
  running: RunningText | undefined,
  edge: 'header' | 'footer',
  { facts, place }: { facts: Facts; place: Place },
): string {
  if (!running) return '<span></span>';
  const { texts, line, fontName, fontSize, spacing } = running;
  const { height, top, bottom, left, right } = place;
  const inner = edge === 'header' ? 'bottom' : 'top';
  const distance = height - (edge === 'header' ? top : bottom) + spacing;
  const cells = texts.map((text, index) => {
    const align = ['left', 'center', 'right'][index];
    return `<div style="flex:1;text-align:${align};white-space:pre">${fill(text, facts)}</div>`;
  });
  const style = [
    // Chromium would push both to the paper's edges; they belong next to the content.
    `position:absolute;${inner}:${distance}mm;left:${left}mm;right:${right}mm`,
    `display:flex;font-family:${escapeHtml(JSON.stringify(fontName))};font-size:${fontSize}pt`,
    `padding-${inner}:0.5mm`,
    line ? `border-${inner}:0.3mm solid black` : '',
  ];
  return `<div style="${style.join(';')}">${cells.join('')}</div>`;
}

/** Fills in wkhtmltopdf's placeholders; those that change from page to page are left to Chromium. */
function fill(text: string, { url, now }: Facts): string {
  const iso = now.toISOString();
  const values: Readonly<Record<string, string>> = {
    page: '<span class="pageNumber"></span>',
    frompage: '1',
    topage: '<span class="totalPages"></span>',
    sitepage: '<span class="pageNumber"></span>',
    sitepages: '<span class="totalPages"></span>',
    title: '<span class="title"></span>',
    doctitle: '<span class="title"></span>',
    webpage: escapeHtml(url),
    date: now.toLocaleDateString('en-GB', { timeZone: 'UTC' }),
    isodate: iso.slice(0, 10),
    time: iso.slice(11, 19),
    section: '',
    subsection: '',
    subsubsection: '',
  };
  return escapeHtml(text).replace(/\[([a-z]+)\]/g, (all, name: string) =>
    Object.hasOwn(values, name) ? values[name]! : all,
  );
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
