/** The LibreOffice module that opens a document. */
export type Module = 'writer' | 'calc' | 'impress' | 'draw';

/** Extensions of the documents that can be converted, with the module that opens each. */
export const INPUTS = {
  ...{ doc: 'writer', docx: 'writer', rtf: 'writer', odt: 'writer' },
  ...{ xls: 'calc', xlsx: 'calc', ods: 'calc', csv: 'calc' },
  ...{ ppt: 'impress', pptx: 'impress', odp: 'impress' },
  // Templates, slide shows and documents with macros. Macros never run.
  ...{ dot: 'writer', dotx: 'writer', docm: 'writer', dotm: 'writer', ott: 'writer' },
  ...{ xlt: 'calc', xltx: 'calc', xlsm: 'calc', xltm: 'calc', xlsb: 'calc', ots: 'calc' },
  ...{ pot: 'impress', pps: 'impress', potx: 'impress', ppsx: 'impress', otp: 'impress' },
  ...{ pptm: 'impress', potm: 'impress', ppsm: 'impress' },
  // Text, markup and drawings.
  ...{
    txt: 'writer',
    html: 'writer',
    htm: 'writer',
    xml: 'writer',
    fodt: 'writer',
    tsv: 'calc',
    fods: 'calc',
  },
  ...{ fodp: 'impress', odg: 'draw', fodg: 'draw', vsd: 'draw', vsdx: 'draw' },
  // WordPerfect, Microsoft Works and Write, OpenOffice.org 1.
  ...{ wpd: 'writer', wps: 'writer', wri: 'writer' },
  ...{ sxw: 'writer', sxc: 'calc', sxi: 'impress', sxd: 'draw' },
} as const satisfies Readonly<Record<string, Module>>;

/** File extension of a document for LibreOffice, without its dot. */
export type Input = keyof typeof INPUTS;

/** Reads an extension, with or without its dot, in any case. Returns `undefined` if it is not in `INPUTS`. */
export function readInput(extension: string): Input | undefined {
  const bare = extension.replace(/^\./, '').toLowerCase();
  return Object.hasOwn(INPUTS, bare) ? (bare as Input) : undefined;
}
