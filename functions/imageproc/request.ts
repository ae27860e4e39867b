import type { ConversionLimits, OptionsOf } from '../shared/tool.ts';
import type { SharpFormat } from './formats.ts';
import type { Operation } from './options/steps.ts';
import type { Resolution } from './options/values.ts';
import type { Decoding } from './source/detect.ts';
import type { imageproc } from './tool.ts';

export type ImageprocOptions = OptionsOf<typeof imageproc>;

/** Arguments of the worker, which runs sharp. Files are named relative to the directory of the conversion. */
export interface ImageprocRequest {
  /** The source, or the frames of an earlier part of the conversion. */
  readonly paths: readonly string[];
  readonly operations: readonly Operation[];
  /** The result, set if sharp writes it, which requires a single image or an animation that sharp can edit. */
  readonly output?: { readonly path: string; readonly format: SharpFormat };
  /** Whether a JPEG or a JPEG 2000 becomes part of a PDF as it is. */
  readonly keepsSource?: boolean;
  /** Start of the paths of frames, `<prefix>0.png` and so on, which ImageMagick edits or writes. */
  readonly prefix: string;
  /** Whether all frames of an animation or a TIFF are needed, instead of the first one. */
  readonly allFrames: boolean;
  readonly options: ImageprocOptions;
  readonly limits: ConversionLimits;
}

/** Either the worker wrote the result, or it wrote frames, or ImageMagick must decode the source first. */
export type ImageprocResult =
  | ((Written | Frames) & { readonly kind: Decoding['kind']; readonly warning?: string | undefined })
  | { readonly foreign: Decoding };

export interface Written {
  readonly written: true;
}

export interface Frames {
  readonly frames: readonly string[];
  /** Resolution in pixels per inch. */
  readonly density?: Resolution | undefined;
  /** Whether the source stores one bit per pixel. */
  readonly isBilevel?: boolean;
  /** Delay of each frame in milliseconds, and the number of repeats. */
  readonly animation?: { readonly delay: readonly number[]; readonly loop: number } | undefined;
}
