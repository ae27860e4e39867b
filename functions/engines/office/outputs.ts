import type { Format } from '../../shared/tool.ts';
import type { Module } from './inputs.ts';

/** Editable formats, with the module that writes each. Every document can be converted to PDF and images. */
export const EDITABLE = {
  ...{ docx: 'writer', odt: 'writer', rtf: 'writer', txt: 'writer', html: 'writer' },
  ...{ xlsx: 'calc', ods: 'calc', csv: 'calc' },
  ...{ pptx: 'impress', odp: 'impress' },
} as const satisfies Partial<Readonly<Record<Format, Module>>>;

export type Editable = keyof typeof EDITABLE;

/** The kinds of documents for error messages. */
export const DOCUMENTS: Readonly<Record<Module, string>> = {
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
export function editableFormats(module: Module): Editable[] {
  return (Object.keys(EDITABLE) as Editable[]).filter((format) => EDITABLE[format] === module);
}
