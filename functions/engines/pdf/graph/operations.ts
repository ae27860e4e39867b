import type { Placed } from './navigation.ts';

/** Facts about a source document. */
export interface SourceFacts {
  readonly pageCount: number;
  readonly isEncrypted: boolean;
  /** Whether it has tags for accessibility. */
  readonly isTagged: boolean;
}

/** The operations of the graph worker and their arguments; see `worker.ts`. Files are `qpdf --json-output`. */
export interface GraphOperations {
  readonly inspect: { readonly graph: string };
  /** Writes the changes of the merged document `graph` to `target`, for `qpdf --update-from-json`. */
  readonly edit: {
    readonly graph: string;
    readonly target: string;
    /** The documents that were merged, if links, outlines and layers must be restored. */
    readonly sources: readonly string[];
    readonly order: readonly Placed[];
    readonly work: GraphWork;
  };
}

/** Changes of the merged document, in the order in which they are made. */
export interface GraphWork {
  /** Degrees clockwise to add to the rotation of pages, by index. */
  readonly rotations: ReadonlyArray<readonly [page: number, degrees: number]>;
}

/** The result of `edit`. */
export interface Edited {
  readonly isChanged: boolean;
  readonly warnings: readonly string[];
}
