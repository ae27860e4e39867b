import type { Input } from '../inputs.ts';

/** What a document is, judged by its bytes. */
export interface Recognized {
  /** Extension under which LibreOffice gets the document. It selects the module where the content leaves a choice. */
  readonly kind: Input;
  /** Whether LibreOffice needs a password. It knows Excel's default password itself. */
  readonly encrypted: boolean;
}

/** What the caller and the source's server claim about a document. Claims count only where the bytes leave a choice. */
export interface Claims {
  /** Value of `in_ext`. */
  readonly declared: Input | undefined;
  /** File name of the source; may be empty. */
  readonly name: string;
  readonly contentType: string;
}
