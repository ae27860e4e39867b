import type { FontName } from './fonts.ts';

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
  /** Whether a value that cannot be filled into its field is an error. */
  readonly isStrict: boolean;
  /** Whether annotations will become part of the pages. */
  readonly isFlat: boolean;
  /** Whether to remove the claim of PDF/A, which the result may not fulfill. */
  readonly isUnclaimed: boolean;
  /** Folder of the fonts. */
  readonly fonts: string;
}
