import { PAPER, PAPER_NAMES } from '../paper.ts';
import type { Size } from './geometry.ts';
import { type Option, option, parseLength, type Scope } from './option.ts';

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
