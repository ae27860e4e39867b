import type { Input } from '../inputs.ts';

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
