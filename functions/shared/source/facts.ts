/** The facts about a source that decide which tool reads it. */
export interface SourceFacts {
  /** The first bytes as Latin-1, at most `HEAD_BYTES` of them. Empty if they are compressed. */
  readonly head: string;
  /** File name. May be empty. */
  readonly name: string;
  /** Media type in lower case, without parameters. May be empty. */
  readonly contentType: string;
}

/** Reads the facts about a source without downloading all of it; see `createReadFacts`. */
export type ReadFacts = (
  url: string,
  options: { readonly signal: AbortSignal; readonly account: string },
) => Promise<SourceFacts>;
