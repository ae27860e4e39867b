import type { Standard } from '../finish-options.ts';
import type { FontName } from './fonts.ts';
import type { Placed } from './merge.ts';

/** Facts about a source document. */
export interface SourceFacts {
  readonly pageCount: number;
  readonly isEncrypted: boolean;
  /** Whether qpdf merges it into another document without losing parts. */
  readonly isMergeable: boolean;
}

/** Facts that are not in the objects of a document. */
export interface FileFacts {
  readonly bytes: number;
  /** Pages to list, from 1. All if absent. */
  readonly pages?: readonly number[] | undefined;
  readonly version: string;
  readonly isLinearized: boolean;
  readonly encryption: Readonly<Record<string, unknown>> | null;
  /** The standards that the document claims to follow, such as `PDF/A-2b`. */
  readonly claims: readonly string[];
}

/** The operations of the graph worker and their arguments; see `worker.ts`. Files are `qpdf --json-output`. */
export interface GraphOperations {
  readonly inspect: { readonly graph: string };
  /** Writes a description of the document to `target`, as JSON. */
  readonly describe: { readonly graph: string; readonly target: string; readonly file: FileFacts };
  /** Writes the changes of the merged document `graph` to `target`, for `qpdf --update-from-json`. */
  readonly edit: {
    readonly graph: string;
    readonly target: string;
    /** The documents that were merged, if links and outlines must be restored. */
    readonly sources: readonly string[];
    /** The contents of pages, if something is drawn after them. */
    readonly streams: string | undefined;
    /** The values of form fields. */
    readonly fill: string | undefined;
    readonly order: readonly Placed[];
    readonly work: GraphWork;
  };
  /** Writes changes for PDFium to `target`; see `adaptDocument`. Returns whether there are any, and the units of pages. */
  readonly adapt: { readonly graph: string; readonly target: string; readonly isText: boolean };
  /** Writes changes that keep the layers and files of a document when it is merged into another one to `target`. */
  readonly makeMergeable: {
    readonly graph: string;
    readonly target: string;
    /** Number of the document among those that are merged, or `undefined` for a stamp, which is flattened. */
    readonly document: number | undefined;
  };
  /** Returns the images to reduce to `dpi`. `streams` has the contents of pages. */
  readonly largeImages: { readonly graph: string; readonly streams: string; readonly dpi: number };
  /** Returns the attached files. */
  readonly attachments: { readonly graph: string };
  /** Writes attached files to an archive. `streams` has their content. */
  readonly extract: {
    readonly streams: string;
    readonly target: string;
    readonly files: ReadonlyArray<{ readonly name: string; readonly stream: string }>;
  };
  /** Returns the content streams of pages, or all streams that `conform` reads. */
  readonly streams: { readonly graph: string; readonly of: 'pages' | 'all' };
  /** Writes what must be appended to the PDF `source` to `target`; see `prepareSignature`. */
  readonly prepareSignature: {
    readonly graph: string;
    readonly source: string;
    readonly target: string;
    readonly text: SignatureText;
  };
  /** Writes the changes that make a document follow a standard to `target`. `streams` has the data of its streams. */
  readonly conform: {
    readonly graph: string;
    readonly streams: string;
    readonly target: string;
    readonly standard: Standard;
  };
}

/** An image and the pixels that it needs. */
export interface Reduced {
  readonly ref: string;
  readonly width: number;
  readonly height: number;
  readonly dataBytes: number;
  /** Absent for a JPEG. */
  readonly samples?: Samples | undefined;
}

/** Decoded samples of 8 bits. */
export interface Samples {
  readonly channels: 1 | 3;
  /** The colors of an indexed image, in Base64. */
  readonly palette?: string | undefined;
  /** Whether the image may become a JPEG. */
  readonly isLossy: boolean;
}

/** The results of the operations. */
export interface GraphReplies {
  readonly inspect: SourceFacts;
  readonly describe: undefined;
  readonly edit: Edited;
  readonly adapt: Adapted;
  readonly makeMergeable: undefined;
  readonly largeImages: readonly Reduced[];
  readonly attachments: GraphOperations['extract']['files'];
  readonly extract: undefined;
  readonly streams: readonly string[];
  readonly prepareSignature: PreparedSignature | { readonly problem: string };
  readonly conform: Conformed;
}

/** Texts that readers show with a signature. */
export interface SignatureText {
  readonly name: string | undefined;
  readonly reason: string | undefined;
  readonly place: string | undefined;
  /** As in PDF: `D:20260131120000Z`. */
  readonly date: string;
}

/** Where the hexadecimal signature belongs: after the byte at `at`, and before the one before `end`. */
export interface PreparedSignature {
  readonly at: number;
  readonly end: number;
}

/** Obstacles to a standard, and warnings about what was removed for it. */
export interface Conformed {
  readonly obstacles: readonly string[];
  readonly warnings: readonly string[];
}

/** The result of `adapt`. */
export interface Adapted {
  readonly isChanged: boolean;
  /** Sizes of the units of pages in points. */
  readonly units: readonly number[];
}

/** Position on a page as displayed, with the distance from its edges in millimeters. */
export interface Place {
  readonly gravity:
    | 'NorthWest'
    | 'North'
    | 'NorthEast'
    | 'West'
    | 'Center'
    | 'East'
    | 'SouthWest'
    | 'South'
    | 'SouthEast';
  readonly x: number;
  readonly y: number;
}

/** Something to draw on pages. Pages are indexes. */
interface Drawn {
  readonly pages: readonly number[];
  readonly place: Place;
  readonly opacity: number;
}

/** Pages of another PDF. They are at the end of the merged document, from index `first` on. */
export interface Stamp extends Drawn {
  readonly first: number;
  readonly count: number;
  readonly isUnder: boolean;
  /** By default, it is only scaled down. */
  readonly scale: number | 'fit' | undefined;
}

/** A text. `%p` and `%n` are the number of a page and of the last one. */
export interface Text extends Drawn {
  readonly text: string;
  /** Number of the first page, or `undefined` if `%p` and `%n` have no meaning. */
  readonly start: number | undefined;
  readonly font: FontName;
  /** In points. By default, the text spans the page. */
  readonly size: number | undefined;
  readonly color: readonly [red: number, green: number, blue: number];
  /** Degrees counterclockwise. */
  readonly angle: number;
}

/** Changes of the merged document, in the order in which they are made. */
export interface GraphWork {
  /** Number of pages without those of stamps. */
  readonly pageCount: number;
  /** Degrees clockwise to add to the rotation of pages, by index. */
  readonly rotations: ReadonlyArray<readonly [page: number, degrees: number]>;
  readonly stamps: readonly Stamp[];
  readonly texts: readonly Text[];
  /** Shows the pages in gray, or in black and white. */
  readonly color: 'rgb' | 'gray' | 'mono';
  /** Whether annotations will become part of the pages. */
  readonly isFlat: boolean;
  /** Whether to remove the claim of PDF/A, which the result may not fulfill. */
  readonly isUnclaimed: boolean;
  /** Folder of the fonts. */
  readonly fonts: string;
}

/** The result of `edit`. */
export interface Edited {
  readonly isChanged: boolean;
  readonly warnings: readonly string[];
}
