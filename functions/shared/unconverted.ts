import { ConversionError } from './errors.ts';

/** Stands for the URL of `infile`, which a tool for files does not know. */
export const INFILE = 'infile';

/** A source that another tool must convert to a PDF first. */
export interface UnconvertedSource {
  readonly url: string;
  readonly tool: string;
  /** Whether the source becomes pages of a document, so that an image needs paper around it. */
  readonly asPages?: boolean;
}

/**
 * The error of a tool that needs sources as PDFs. The router converts them and invokes the tool again. A caller who
 * invokes the tool directly gets the error.
 */
export class UnconvertedError extends ConversionError {
  readonly sources: readonly UnconvertedSource[];

  constructor(message: string, parameter: string, sources: readonly UnconvertedSource[]) {
    super('UNSUPPORTED_SOURCE', message, { parameter });
    this.sources = sources;
  }
}
