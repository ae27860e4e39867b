import type { Claims, Recognized } from './inputs.ts';

/** Name of the file with a document that LibreOffice reads better than the source. */
export const REWRITTEN = 'rewritten';

/** The operations of the worker and their arguments. Everything that an attacker may have written is parsed there. */
export interface SourceOperations {
  /**
   * Recognizes a source and writes `REWRITTEN` if LibreOffice needs that: text as UTF-8, truncated RTF with closed
   * groups, archives without duplicate parts, and Word documents with the layout of Word.
   */
  readonly prepare: {
    readonly path: string;
    readonly claims: Claims;
    readonly encoding: string | undefined;
    /** Whether the result has pages. Other results should be as close to the source as possible. */
    readonly isPrinted: boolean;
    /** Whether the result has formulas. */
    readonly hasFormulas: boolean;
  };
  /** Moves the floating tables of a Word document into its text and removes 3D effects, in `REWRITTEN`. Returns whether it has any. */
  readonly simplify: { readonly path: string };
  /** Writes `REWRITTEN` with the files in the place of the chunks, of which some may be missing. */
  readonly embed: { readonly path: string; readonly files: readonly string[] };
  /** Counts the pages of a PDF that LibreOffice wrote. Returns 0 if it is not complete. */
  readonly count: { readonly path: string };
}

export interface Prepared extends Recognized {
  /** Language tag that the document declares for itself. */
  readonly language?: string | undefined;
  /** The most frequent separator of a text table. */
  readonly separator?: string | undefined;
  /** Whether East Asian and Western text of slides have no space between them. */
  readonly isTight: boolean;
  /** Number of pages in Word, or 0 if it only marked where they begin. */
  readonly pages?: number | undefined;
  /** Whether fields of a Word document have to be computed for each page. */
  readonly hasPageFields: boolean;
  /** Kinds of the documents in the files of `chunkFile`, which LibreOffice leaves out of a Word document. */
  readonly chunks: readonly string[];
  /** Whether there is a file `REWRITTEN`. */
  readonly isRewritten: boolean;
}
