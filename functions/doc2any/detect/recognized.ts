import type { Kind } from '../tool.ts';

/** What a document's bytes say it is. */
export interface Recognized {
  readonly kind: Kind;
  /** Whether LibreOffice will ask for a password; the default password of locked sheets it knows itself. */
  readonly encrypted: boolean;
}
