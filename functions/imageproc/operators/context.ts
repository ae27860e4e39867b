import type { Size } from '../../shared/options/parameters.ts';
import type { Settings } from '../options/steps.ts';
import type { Pixels } from '../pixels.ts';

/** What an operator needs besides the image and its own value. */
export interface Context {
  readonly settings: Settings;
  /** @throws ConversionError `RESULT_TOO_LARGE` for an image of this size. */
  checkSize(size: Size): void;
  /** Returns the previously downloaded image of a URL. */
  load(url: string): Promise<Pixels>;
}
