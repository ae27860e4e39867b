import type { Format } from '../shared/tool.ts';
import type { Module } from './inputs.ts';

/** Formats that can be edited, with the module that writes each. PDF and images are made of every document. */
export const EDITABLE = {
  ...{ docx: 'writer', odt: 'writer', rtf: 'writer', txt: 'writer', html: 'writer' },
  ...{ xlsx: 'calc', ods: 'calc', csv: 'calc' },
  ...{ pptx: 'impress', odp: 'impress' },
} as const satisfies Partial<Readonly<Record<Format, Module>>>;

export type Editable = keyof typeof EDITABLE;

/** The kinds of documents, as errors name them. */
export const DOCUMENTS: Readonly<Record<Module, string>> = {
  writer: 'a text document',
  calc: 'a spreadsheet',
  impress: 'a presentation',
  draw: 'a drawing',
};

/** Returns the format if it can be edited. */
export function readEditable(format: Format | undefined): Editable | undefined {
  return format !== undefined && Object.hasOwn(EDITABLE, format) ? (format as Editable) : undefined;
}

/** Returns the formats that can be edited and that a module writes. */
export function editableFormats(module: Module): Editable[] {
  return (Object.keys(EDITABLE) as Editable[]).filter((format) => EDITABLE[format] === module);
}
