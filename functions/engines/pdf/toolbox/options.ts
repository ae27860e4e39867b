import {
  category,
  option,
  type PageRange,
  readPageList,
  repeatable,
  sourceUrl,
  type ValuesOf,
} from '../../../shared/options/option.ts';
import { PAGE_IMAGES } from '../options.ts';

/** A turn of some pages, or of all. */
export interface Rotation {
  /** Degrees clockwise: 0, 90, 180 or 270. */
  readonly degrees: number;
  readonly pages: readonly PageRange[] | undefined;
}

/** Reads `90`, or `90:1-3,!1` for some pages. */
function rotation(value: string): Rotation | undefined {
  const match = /^([+-]?\d{1,4})(?::(.+))?$/.exec(value.trim());
  const degrees = Number(match?.[1]);
  const pages = match?.[2] === undefined ? undefined : readPageList(match[2]);
  if (!match || degrees % 90 !== 0 || (match[2] !== undefined && !pages)) return undefined;
  return { degrees: ((degrees % 360) + 360) % 360, pages };
}

/** Turns pages. With a list of pages, it can be given more than once. */
export const rotations = repeatable(
  option(
    '-rotate',
    'a multiple of 90 from -9990 to 9990, or one for some pages such as 90:1-3,!1',
    rotation,
    {
      outputs: [...PAGE_IMAGES, 'pdf'],
      description:
        'Rotate clockwise by this many degrees. `90:1-3,!1` rotates some pages, and can be repeated',
    },
  ),
);

/** Options that change a PDF before it is drawn or written. */
export const toolboxOptions = {
  ...category('Merge', {
    append: repeatable(
      sourceUrl('-append', {
        description:
          'Add the pages of this document after those of `infile`. Can be given more than once. Images, office documents and web pages become PDFs first',
      }),
    ),
  }),
} as const;

export type ToolboxOptions = ValuesOf<typeof toolboxOptions> & { readonly rotations: readonly Rotation[] };
