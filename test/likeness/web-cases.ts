import type { PDFOptions } from 'puppeteer-core';
import { type Look, paperPixels } from './chromium.ts';

/** Options of one tool, and what Chromium itself calls the same. */
export interface WebCase {
  readonly tool: 'html2pdf' | 'html2image';
  /** As in a query. */
  readonly options: Readonly<Record<string, string>>;
  readonly format?: 'jpg' | 'png' | 'webp';
  readonly look: Look;
}

const A4 = { width: 210, height: 297 };
/** Millimeters per CSS pixel. */
const PIXEL = 25.4 / 96;

/**
 * A case of html2pdf. Lengths that the tool sets by a rule are set by a rule here too, because Chromium
 * rounds those in its own settings differently. The window is what is printed on a page, unless the case is
 * about the window.
 */
function pdf(options: WebCase['options'], settings: PDFOptions, look: Look = {}): WebCase {
  return { tool: 'html2pdf', options, look: { ...look, pdf: settings } };
}

interface Margins {
  readonly top?: number;
  readonly bottom?: number;
  readonly left?: number;
  readonly right?: number;
}

/**
 * Paper of a size in millimeters, and the window that fits it. A rule of the page sets the size, because
 * Chromium rounds the size in its own settings up to a whole point, and other sizes down. Its media queries
 * only know the settings.
 */
function paper(options: WebCase['options'], size: { width: number; height: number }): WebCase {
  return sheet(options, size, {}, `size: ${size.width}mm ${size.height}mm`);
}

/** Margins in millimeters on A4. A rule sets only these, because Chromium rounds lengths in a rule differently. */
function margins(options: WebCase['options'], given: Margins): WebCase {
  const rule = Object.entries(given).map(([side, length]) => `margin-${side}: ${length}mm`);
  return sheet(options, A4, given, rule.join('; '));
}

function sheet(
  options: WebCase['options'],
  { width, height }: { width: number; height: number },
  { top = 10, bottom = 10, left = 10, right = 10 }: Margins,
  rule: string,
): WebCase {
  const settings: PDFOptions = {
    width: paperPixels(width),
    height: paperPixels(height),
    margin: {
      top: paperPixels(top),
      bottom: paperPixels(bottom),
      left: paperPixels(left),
      right: paperPixels(right),
    },
  };
  const viewport = {
    width: Math.round((width - left - right) / PIXEL),
    height: Math.round((height - top - bottom) / PIXEL),
  };
  return pdf(options, settings, { css: `@page { ${rule} }`, viewport });
}

function image(options: WebCase['options'], look: Look, format: WebCase['format'] = 'png'): WebCase {
  return { tool: 'html2image', options, look, format };
}

const within = (edge: 'top' | 'bottom') =>
  `position:absolute;${edge}:0;left:10mm;right:10mm;height:10mm;font-size:12pt;overflow:hidden;-webkit-print-color-adjust:exact`;

export const PDF_CASES: readonly WebCase[] = [
  paper({ '-s': 'A3' }, { width: 297, height: 420 }),
  paper({ '-s': 'A5' }, { width: 148, height: 210 }),
  paper({ '-s': 'A6' }, { width: 105, height: 148 }),
  paper({ '-s': 'B5' }, { width: 176, height: 250 }),
  paper({ '-s': 'Letter' }, { width: 215.9, height: 279.4 }),
  paper({ '-s': 'Legal' }, { width: 215.9, height: 355.6 }),
  paper({ '-s': 'Tabloid' }, { width: 279.4, height: 431.8 }),
  paper({ '-s': 'Executive' }, { width: 190.5, height: 254 }),
  paper({ '--page-width': '100mm', '--page-height': '150mm' }, { width: 100, height: 150 }),
  paper({ '--page-width': '8in', '--page-height': '8in' }, { width: 203.2, height: 203.2 }),
  paper({ '-O': 'Landscape' }, { width: 297, height: 210 }),
  paper({ '-s': 'Letter', '-O': 'Landscape' }, { width: 279.4, height: 215.9 }),
  paper({ '-s': 'A5', '-O': 'Landscape' }, { width: 210, height: 148 }),
  margins({ '-T': '0', '-B': '0', '-L': '0', '-R': '0' }, { top: 0, bottom: 0, left: 0, right: 0 }),
  margins({ '-T': '20', '-B': '20', '-L': '20', '-R': '20' }, { top: 20, bottom: 20, left: 20, right: 20 }),
  margins({ '-T': '1in', '-B': '2cm' }, { top: 25.4, bottom: 20 }),
  margins({ '-L': '40mm', '-R': '5mm' }, { left: 40, right: 5 }),
  ...[0.5, 0.75, 1.25, 1.5, 2].map((scale) =>
    pdf(
      { '--zoom': String(scale) },
      { scale },
      { viewport: { width: Math.round(190 / PIXEL / scale), height: Math.round(277 / PIXEL / scale) } },
    ),
  ),
  pdf({ '--page-ranges': '1' }, { pageRanges: '1' }),
  pdf({ '-f': '1', '-l': '1' }, { pageRanges: '1' }),
  pdf(
    { '--header-html': '<b>Head</b> <span class=title></span>' },
    {
      displayHeaderFooter: true,
      headerTemplate: `<div style="${within('top')}"><b>Head</b> <span class=title></span></div>`,
      footerTemplate: '<span></span>',
    },
    { css: '@page { margin-top: 10mm }' },
  ),
  pdf(
    { '--footer-html': '<span class="pageNumber"></span> of <span class="totalPages"></span>' },
    {
      displayHeaderFooter: true,
      headerTemplate: '<span></span>',
      footerTemplate: `<div style="${within('bottom')}"><span class="pageNumber"></span> of <span class="totalPages"></span></div>`,
    },
    { css: '@page { margin-bottom: 10mm }' },
  ),
  pdf({ '--no-background': '' }, { printBackground: false }),
  pdf({ '--print-media-type': '' }, {}, { media: 'print' }),
  pdf({ '--print-media-type': '', '--no-background': '' }, { printBackground: false }, { media: 'print' }),
  // Chromium's own setting still applies the margins of the page.
  pdf({ '--no-prefer-css-page-size': '' }, {}, { css: '@page { size: 210mm 297mm; margin: 10mm }' }),
  pdf({ '--no-tagged': '', '--no-outline': '' }, { tagged: false, outline: false }),
  pdf({ '-n': '' }, {}, { javascript: false }),
  pdf({ '--no-images': '' }, {}, { images: false }),
  pdf(
    { '--media-features': 'prefers-color-scheme:dark' },
    {},
    { features: [{ name: 'prefers-color-scheme', value: 'dark' }] },
  ),
  pdf(
    { '--user-style-sheet': 'body{font-family:monospace!important}' },
    {},
    { css: 'body{font-family:monospace!important}' },
  ),
  pdf({ '--hide': 'img, svg' }, {}, { css: 'img, svg { display: none !important }' }),
  pdf({ '--timezone': 'Asia/Tokyo' }, {}, { timezone: 'Asia/Tokyo' }),
  pdf({ '--locale': 'de-DE' }, {}, { locale: 'de-DE' }),
  pdf(
    { '--viewport-size': '1280x800' },
    { scale: 190 / PIXEL / 1280 },
    { viewport: { width: 1280, height: 800 } },
  ),
];

export const IMAGE_CASES: readonly WebCase[] = [
  ...[320, 375, 768, 1280, 1600, 1920].map((width) =>
    image({ '--width': String(width), '--enable-smart-width': '' }, { viewport: { width, height: 768 } }),
  ),
  image({ '--height': '600' }, { viewport: { width: 1024, height: 600 }, image: { window: true } }),
  image(
    { '--width': '800', '--height': '1200' },
    { viewport: { width: 800, height: 1200 }, image: { window: true } },
  ),
  image(
    { '--width': '400', '--height': '400' },
    { viewport: { width: 400, height: 400 }, image: { window: true } },
  ),
  image({ '--height': '500', '--full-page': '' }, { viewport: { width: 1024, height: 500 } }),
  ...[0.5, 1.5, 2, 3].map((zoom) =>
    image(
      { '--zoom': String(zoom), '--height': '768' },
      { viewport: { width: 1024, height: 768, deviceScaleFactor: zoom }, image: { window: true } },
    ),
  ),
  image({ '--zoom': '2' }, { viewport: { width: 1024, height: 768, deviceScaleFactor: 2 } }),
  ...[30, 75, 94].map((quality) =>
    image(
      { '--quality': String(quality), '--height': '768' },
      { image: { window: true, type: 'jpeg', quality } },
      'jpg',
    ),
  ),
  ...[50, 90].map((quality) =>
    image(
      { '--quality': String(quality), '--height': '768' },
      { image: { window: true, type: 'webp', quality } },
      'webp',
    ),
  ),
  image(
    { '--crop-x': '100', '--crop-y': '50', '--crop-w': '300', '--crop-h': '200', '--height': '768' },
    { image: { clip: { x: 100, y: 50, width: 300, height: 200 } } },
  ),
  image(
    { '--crop-w': '512', '--crop-h': '512', '--height': '768' },
    { image: { clip: { x: 0, y: 0, width: 512, height: 512 } } },
  ),
  image(
    { '--crop-x': '724', '--crop-y': '468', '--height': '768', '--width': '1024' },
    { image: { clip: { x: 724, y: 468, width: 300, height: 300 } } },
  ),
  image({ '--selector': 'body' }, { image: { selector: 'body' } }),
  image({ '--selector': 'body > *:not(script)' }, { image: { selector: 'body > *:not(script)' } }),
  image({ '--transparent': '', '--height': '768' }, { image: { window: true, omitBackground: true } }),
  image({ '--print-media-type': '' }, { media: 'print' }),
  image(
    { '--media-features': 'prefers-color-scheme:dark' },
    { features: [{ name: 'prefers-color-scheme', value: 'dark' }] },
  ),
  image(
    { '--media-features': 'prefers-reduced-motion:reduce' },
    { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] },
  ),
  image({ '-n': '' }, { javascript: false }),
  image({ '--no-images': '' }, { images: false }),
  image({ '--user-style-sheet': 'body{zoom:1.5}' }, { css: 'body{zoom:1.5}' }),
  image({ '--hide': 'svg, canvas' }, { css: 'svg, canvas { display: none !important }' }),
  image({ '--timezone': 'America/New_York' }, { timezone: 'America/New_York' }),
  image({ '--locale': 'fr-FR' }, { locale: 'fr-FR' }),
  image({ '--device': 'iPhone 13', '--height': '844' }, { device: 'iPhone 13', image: { window: true } }),
  image({ '--device': 'iPad', '--height': '1024' }, { device: 'iPad', image: { window: true } }),
  image({ '--device': 'Pixel 5', '--height': '851' }, { device: 'Pixel 5', image: { window: true } }),
];

export const WEB_CASES: readonly WebCase[] = [...PDF_CASES, ...IMAGE_CASES];
