/** The LibreOffice module that opens a document. */
export type Module = 'writer' | 'calc' | 'impress' | 'draw';

/** Extensions of the documents that can be converted, by the module that opens them. Macros in them never run. */
const EXTENSIONS = {
  writer: [
    'doc',
    'docx',
    'rtf',
    'odt',
    // Templates, and documents with macros.
    'dot',
    'dotx',
    'docm',
    'dotm',
    'ott',
    // Text and markup.
    'txt',
    'html',
    'htm',
    'xml',
    'fodt',
    // WordPerfect, Microsoft Works and Write, OpenOffice.org 1.
    'wpd',
    'wps',
    'wri',
    'sxw',
    // Apple iWork.
    'pages',
  ],
  calc: [
    'xls',
    'xlsx',
    'ods',
    'csv',
    'xlt',
    'xltx',
    'xlsm',
    'xltm',
    'xlsb',
    'ots',
    'tsv',
    'fods',
    'sxc',
    'numbers',
  ],
  impress: [
    'ppt',
    'pptx',
    'odp',
    // Templates, and slide shows.
    'pot',
    'pps',
    'potx',
    'ppsx',
    'otp',
    'pptm',
    'potm',
    'ppsm',
    'fodp',
    'sxi',
    'key',
  ],
  draw: ['odg', 'fodg', 'vsd', 'vsdx', 'sxd'],
} as const satisfies Readonly<Record<Module, readonly string[]>>;

/** File extension of a document for LibreOffice, without its dot. */
export type Input = (typeof EXTENSIONS)[Module][number];

/** The module that opens each kind of document. */
export const INPUTS = Object.fromEntries(
  (Object.keys(EXTENSIONS) as Module[]).flatMap((module) =>
    EXTENSIONS[module].map((extension) => [extension, module] as const),
  ),
) as Readonly<Record<Input, Module>>;

/** Reads an extension, with or without its dot, in any case. Returns `undefined` if it is not in `INPUTS`. */
export function readInput(extension: string): Input | undefined {
  const bare = extension.replace(/^\./, '').toLowerCase();
  return Object.hasOwn(INPUTS, bare) ? (bare as Input) : undefined;
}

/** The kind of a document, according to its bytes. */
export interface Recognized {
  /** File extension of the document for LibreOffice. It selects the module where the content is ambiguous. */
  readonly kind: Input;
  /** Whether LibreOffice needs a password. It tries Excel's default password itself. */
  readonly encrypted: boolean;
}

/** Claims of the caller and of the source server about a document. They count only where the bytes are ambiguous. */
export interface Claims {
  /** Value of `in_ext`. */
  readonly declared: Input | undefined;
  /** File name of the source; may be empty. */
  readonly name: string;
  readonly contentType: string;
}
