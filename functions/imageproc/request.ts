import type { Format, Limits, OptionsOf } from '../shared/tool.ts';
import type { imageproc } from './tool.ts';

export type ImageprocOptions = OptionsOf<typeof imageproc>;
export type ImageStep = ImageprocOptions['steps'][number];

/** What the tool asks of its engine process. */
export interface ImageprocRequest {
  readonly path: string;
  readonly output: string;
  readonly format: Format;
  readonly options: ImageprocOptions;
  readonly limits: Limits;
}
