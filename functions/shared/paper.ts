import type { Size } from './options/geometry.ts';
import { type Option, option, parseLength, type Scope } from './options/option.ts';

/** Paper sizes of wkhtmltopdf, portrait: width and height in millimeters. */
export const PAPER = {
  A0: [841, 1189],
  A1: [594, 841],
  A2: [420, 594],
  A3: [297, 420],
  A4: [210, 297],
  A5: [148, 210],
  A6: [105, 148],
  A7: [74, 105],
  A8: [52, 74],
  A9: [37, 52],
  B0: [1000, 1414],
  B1: [707, 1000],
  B2: [500, 707],
  B3: [353, 500],
  B4: [250, 353],
  B5: [176, 250],
  B6: [125, 176],
  B7: [88, 125],
  B8: [62, 88],
  B9: [44, 62],
  B10: [31, 44],
  Letter: [215.9, 279.4],
  Legal: [215.9, 355.6],
  Tabloid: [279.4, 431.8],
  Ledger: [431.8, 279.4],
  Executive: [190.5, 254],
  Folio: [210, 330],
  C5E: [163, 229],
  Comm10E: [105, 241],
  DLE: [110, 220],
} as const satisfies Readonly<Record<string, readonly [width: number, height: number]>>;

type PaperName = keyof typeof PAPER;

export const PAPER_NAMES = Object.keys(PAPER) as readonly PaperName[];

const SIDE = { min: 1, max: 5000 } as const;

/** Defines a size of paper in millimeters: a name such as `A4`, or a width and height such as `210mmx297mm`. */
export function paper(
  name: string,
  options: Scope & { readonly description: string },
): Option<Size | undefined> {
  return option(
    name,
    'a paper size such as A4 or Letter, or a width and height such as 100mmx150mm',
    parse,
    options,
  );
}

function parse(value: string): Size | undefined {
  const known = PAPER_NAMES.find((each) => each.toLowerCase() === value.toLowerCase());
  if (known) return { width: PAPER[known][0], height: PAPER[known][1] };
  const [width, height] = value.split(/x(?=[\d.])/i).map((side) => parseLength(side, SIDE));
  return width !== undefined && height !== undefined ? { width, height } : undefined;
}
