import { INPUTS } from '../../../functions/engines/office/inputs.ts';

/** How a kind of file is converted. */
export interface Case {
  readonly app: string;
  readonly outfile: string;
}

const IMAGE = [{ app: 'imageproc', outfile: 'image.jpg' }];
const PAGE = [
  { app: 'html2pdf', outfile: 'page.pdf' },
  { app: 'html2image', outfile: 'page.png' },
];
const OFFICE = [{ app: 'doc2any', outfile: 'document.pdf' }];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  pdf: [{ app: 'pdftools', outfile: 'page.png' }],
  ...Object.fromEntries(['html', 'htm'].map((extension) => [extension, PAGE])),
  ...Object.fromEntries(
    ['png', 'jpg', 'jpeg', 'webp', 'gif', 'tif', 'tiff', 'svg', 'avif'].map((extension) => [
      extension,
      IMAGE,
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(INPUTS)
      .filter((extension) => !['html', 'htm', 'xml', 'txt'].includes(extension))
      .map((extension) => [extension, OFFICE]),
  ),
};

/** Returns the conversions for a file, by its extension. None for unsupported kinds. */
export function casesOf(path: string): readonly Case[] {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(CASES, extension) ? CASES[extension]! : [];
}
