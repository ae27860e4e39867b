import { readersOf } from '../../engines/choose-tool.ts';
import { INPUTS, readInput } from '../../engines/office/inputs.ts';
import type { SourceFacts } from '../../shared/source/file-kind.ts';
import type { FrontTexts } from '../front-texts.ts';

/** A kind of source, as a person names it. */
export type Kind = keyof FrontTexts['kinds'];
export type TargetId = keyof FrontTexts['targets'];

/** Describes a result: its name and its options. */
interface Target {
  /** End of the name of the result, after the name of the source. */
  readonly suffix: string;
  /** Options as on a command line. */
  readonly args?: string;
}

export const TARGETS: Readonly<Record<TargetId, Target>> = {
  pdf: { suffix: '.pdf' },
  pdfWide: { suffix: '.pdf', args: '--fit=width' },
  pdfSmaller: { suffix: '.pdf' },
  pages: { suffix: '-%d.png' },
  pagesJpg: { suffix: '-%d.jpg' },
  picture: { suffix: '.png' },
  smaller: { suffix: '.jpg', args: "-resize '1600x1600>' -quality 80 -strip" },
  jpg: { suffix: '.jpg' },
  webp: { suffix: '.webp' },
  avif: { suffix: '.avif' },
  tiff: { suffix: '.tiff' },
  text: { suffix: '.txt' },
  docx: { suffix: '.docx' },
  odt: { suffix: '.odt' },
  rtf: { suffix: '.rtf' },
  html: { suffix: '.html' },
  xlsx: { suffix: '.xlsx' },
  ods: { suffix: '.ods' },
  csv: { suffix: '.csv' },
  pptx: { suffix: '.pptx' },
  odp: { suffix: '.odp' },
};

/** Targets that a PDF cannot become. They are listed, because people look for them, with the reason. */
const OFFICE: readonly TargetId[] = ['docx', 'xlsx', 'pptx'];

/** Whether a source of a kind cannot become what the list offers. */
export const isImpossible = (kind: Kind, id: TargetId) => kind === 'pdf' && OFFICE.includes(id);

/** Lists the targets of each kind. The first is preselected. */
const TARGETS_OF: Readonly<Record<Kind, readonly TargetId[]>> = {
  pdf: ['pages', 'pagesJpg', 'text', 'pdfSmaller', ...OFFICE],
  writer: ['pdf', 'pages', 'pagesJpg', 'docx', 'odt', 'rtf', 'text', 'html'],
  calc: ['pdfWide', 'pdf', 'pages', 'xlsx', 'ods', 'csv'],
  impress: ['pdf', 'pages', 'pagesJpg', 'pptx', 'odp'],
  draw: ['pdf', 'pages', 'pagesJpg'],
  image: ['smaller', 'jpg', 'picture', 'webp', 'avif', 'tiff', 'pdf'],
  svg: ['picture', 'jpg', 'webp', 'pdf'],
  page: ['pdf', 'picture', 'jpg', 'docx', 'text'],
  zip: ['pdf', 'picture', 'jpg'],
  other: ['pdf', 'picture', 'text'],
};

/** Returns the kind of a source. */
export function kindOf(facts: SourceFacts): Kind {
  const [reader, other] = readersOf(facts);
  if (reader === 'pdftools') return 'pdf';
  if (reader === 'imageproc') return other === undefined ? 'image' : 'svg';
  if (reader === 'html2pdf') return facts.head.startsWith('PK') ? 'zip' : 'page';
  if (reader !== 'doc2any') return 'other';
  if (facts.head.startsWith('{\\rtf')) return 'writer';
  const input = readInput(extensionOf(facts.name));
  return input === undefined ? 'other' : INPUTS[input];
}

/** Returns what a source can become. A document is not offered the format that it already has. */
export function targetsFor(kind: Kind, name: string): readonly TargetId[] {
  const isOwn = (id: TargetId) => TARGETS[id].suffix === `.${extensionOf(name)}`;
  const isKept = kind === 'image' || kind === 'svg' || kind === 'pdf';
  return TARGETS_OF[kind].filter((id) => isKept || !isOwn(id));
}

/** Returns the name of a result: that of its source with another extension. */
export function resultName(name: string, id: TargetId): string {
  const stem = name
    .replace(/(?<=.)\.[^.]{1,8}$/, '')
    .replace(/[^\p{L}\p{N} ._-]/gu, '_')
    .replace(/\.{2,}/g, '.')
    .replace(/^\./, '_')
    .slice(0, 120)
    .trim();
  return `${stem || 'result'}${TARGETS[id].suffix}`;
}

/** Returns the URL that a person means, who may leave out `https://`, or `undefined` if it is none. */
export function readUrl(text: string): URL | undefined {
  const typed = text.trim();
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`);
  const isWeb = url?.protocol === 'https:' || url?.protocol === 'http:';
  return url && isWeb && /^(localhost|.+\..+|\[.+\])$/.test(url.hostname) && !/\s/.test(typed)
    ? url
    : undefined;
}

function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,8})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}
