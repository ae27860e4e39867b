import type { Input } from '../inputs.ts';

/** The kind of a document, according to its bytes. */
export interface Recognized {
  /** File extension of the document for LibreOffice. It selects the module if the content leaves a choice. */
  readonly kind: Input;
  /** Whether LibreOffice needs a password. It tries Excel's default password itself. */
  readonly encrypted: boolean;
}

/** Claims of the caller and of the source's server about a document. They count only if the bytes leave a choice. */
export interface Claims {
  /** Value of `in_ext`. */
  readonly declared: Input | undefined;
  /** File name of the source; may be empty. */
  readonly name: string;
  readonly contentType: string;
}
