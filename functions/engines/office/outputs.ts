import { ConversionError } from '../../shared/errors.ts';
import type { Format } from '../../shared/formats.ts';
import type { Module } from './inputs.ts';

/** Editable formats, with the module that writes each. Every document can be converted to PDF and images. */
export const EDITABLE = {
  docx: 'writer',
  odt: 'writer',
  rtf: 'writer',
  txt: 'writer',
  html: 'writer',
  xlsx: 'calc',
  ods: 'calc',
  csv: 'calc',
  pptx: 'impress',
  odp: 'impress',
} as const satisfies Partial<Readonly<Record<Format, Module>>>;

export type Editable = keyof typeof EDITABLE;

/** Formats that are made from a PDF, which LibreOffice writes first. */
export const PRINTED = ['pdf', 'jpg', 'png'] as const satisfies readonly Format[];

/** Formats that store a page size. HTML stores it in an `@page` rule. */
export const WITH_PAGES = [
  ...PRINTED,
  'docx',
  'odt',
  'rtf',
  'html',
  'xlsx',
  'ods',
] as const satisfies readonly Format[];

/** Formats that store properties such as title and author. */
export const WITH_PROPERTIES: readonly Format[] = [
  'pdf',
  'docx',
  'odt',
  'rtf',
  'html',
  'xlsx',
  'ods',
  'pptx',
  'odp',
];

/** The kinds of documents for error messages. */
const DOCUMENTS: Readonly<Record<Module, string>> = {
  writer: 'a text document',
  calc: 'a spreadsheet',
  impress: 'a presentation',
  draw: 'a drawing',
};

/** Returns the format if it is editable. */
export function readEditable(format: Format | undefined): Editable | undefined {
  return format !== undefined && Object.hasOwn(EDITABLE, format) ? (format as Editable) : undefined;
}

/** Returns the editable formats that a module writes. */
function editableFormats(module: Module): Editable[] {
  return (Object.keys(EDITABLE) as Editable[]).filter((format) => EDITABLE[format] === module);
}

/** Returns the error for a document that opens in a different module than the one that writes the format. */
export function moduleConflict(module: Module, format: Editable): ConversionError | undefined {
  if (EDITABLE[format] === module) return undefined;
  const offer = [...editableFormats(module), ...PRINTED].map((each) => `.${each}`).join(', ');
  return new ConversionError(
    'UNSUPPORTED_CONVERSION',
    `Parameter 'outfile' asks for a .${format} file, but the source is ${DOCUMENTS[module]}, which can be converted to ${offer}.`,
  );
}
