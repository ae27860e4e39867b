import type { Limits, OptionsOf } from '../shared/tool.ts';
import type { imageproc } from './tool.ts';

export type ImageprocOptions = OptionsOf<typeof imageproc>;
export type ImageFormat = (typeof imageproc)['formats'][number];

/** A request to the worker. */
export interface ImageprocRequest {
  readonly path: string;
  readonly output: string;
  readonly format: ImageFormat;
  readonly options: ImageprocOptions;
  readonly limits: Limits;
  /** Files of the images that operators use, by URL. */
  readonly images: Readonly<Record<string, string>>;
}
